package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/upgrade"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Upgrade prints what another release of an engine changes; with markdown, for a pull request.
func Upgrade(w io.Writer, r *upgrade.Response, markdown bool) {
	u := upgradeText{w, markdown}
	u.heading(r)
	u.section("Breaks", len(r.Breaks))
	for i := range r.Breaks {
		u.finding(&r.Breaks[i])
	}
	if len(r.Breaks) == 0 {
		u.line("nothing: %s accepts every flag and value in use", r.To.Version)
	}
	if len(r.Mended) > 0 {
		u.section("No longer a finding", len(r.Mended))
		for i := range r.Mended {
			u.finding(&r.Mended[i])
		}
	}
	u.defaults("Defaults that change", r.Defaults)
	u.defaults("Modelled differently, without a flag", r.Modelled)
	if len(r.Reworked) > 0 {
		u.section("Changed meanings", len(r.Reworked))
		for _, x := range r.Reworked {
			flag := "without a flag"
			if x.Flag != "" {
				flag = u.code(x.Flag)
			}
			u.line("%s: since %s %s (%s)", flag, x.Since, x.What, x.Source)
		}
	}
	if len(r.Values) > 0 {
		u.section("Values of flags in use", len(r.Values))
		for _, v := range r.Values {
			text := ""
			if len(v.New) > 0 {
				text += "; new: " + strings.Join(v.New, ", ")
			}
			if len(v.Gone) > 0 {
				text += "; gone: " + strings.Join(v.Gone, ", ")
			}
			u.line("%s%s", u.code(v.Flag), strings.Replace(text, "; ", ": ", 1))
		}
	}
	u.section("Flags and keys", 1)
	u.line("%d are new%s", len(r.Added), u.some(r.Added))
	u.line("%d are gone%s", len(r.Removed), u.some(r.Removed))
	u.effects(r)
	u.section("Not known", len(r.Unknown))
	for _, why := range r.Unknown {
		u.line("%s", why)
	}
	if r.Caution != "" {
		fmt.Fprintf(w, "\n%s\n", r.Caution)
	}
}

// upgradeText prints in one of the two forms.
type upgradeText struct {
	w        io.Writer
	markdown bool
}

func (u upgradeText) heading(r *upgrade.Response) {
	title := fmt.Sprintf("%s %s (%s) → %s (%s)", r.Title, r.From.Version, r.From.Date, r.To.Version, r.To.Date)
	if u.markdown {
		title = "### " + title + "\n"
	}
	fmt.Fprintln(u.w, title)
	if r.Model != "" && r.Device != "" {
		fmt.Fprintf(u.w, "%s on %d × %s\n", r.Model, r.GPUs, r.Device)
	}
}

func (u upgradeText) section(title string, n int) {
	switch {
	case n == 0 && title != "Breaks":
	case u.markdown:
		fmt.Fprintf(u.w, "\n**%s**\n\n", title)
	default:
		fmt.Fprintf(u.w, "\n%s:\n", title)
	}
}

func (u upgradeText) line(format string, args ...any) {
	if u.markdown {
		fmt.Fprintf(u.w, "- "+format+"\n", args...)
		return
	}
	lead := "  "
	for _, line := range table.Wrap(fmt.Sprintf(format, args...), textWidth(u.w)-4) {
		fmt.Fprintln(u.w, lead+line)
		lead = "    "
	}
}

func (u upgradeText) defaults(title string, all []upgrade.Default) {
	u.section(title, len(all))
	for _, d := range all {
		name := u.code(cmp.Or(d.Flag, d.Key))
		if d.Pool != "" {
			name += " of " + d.Pool + " workers"
		}
		u.line("%s: %s → %s", name, d.From, d.To)
	}
}

func (u upgradeText) code(name string) string {
	if u.markdown {
		return "`" + name + "`"
	}
	return name
}

func (u upgradeText) finding(f *lint.Finding) {
	text := fmt.Sprintf("%s %s %s%s: %s", f.Severity, f.Code, placed(f), u.code(f.Where), f.What)
	if f.Better != "" {
		text += "; better: " + u.code(f.Better)
	}
	u.line("%s", text)
}

// some is the first of a list of names.
func (u upgradeText) some(names []string) string {
	const most = 6
	if len(names) == 0 {
		return ""
	}
	shown := names[:min(most, len(names))]
	out := make([]string, len(shown))
	for i, n := range shown {
		out[i] = u.code(n)
	}
	end := ""
	if len(names) > most {
		end = " …"
	}
	return ": " + strings.Join(out, ", ") + end
}

// effects is the table of figures.
func (u upgradeText) effects(r *upgrade.Response) {
	if len(r.Effects) == 0 {
		return
	}
	title := "Predicted"
	if r.Concurrency > 0 {
		title = fmt.Sprintf("Predicted at %d requests in flight, with 80 %% intervals", r.Concurrency)
	}
	u.section(title, 1)
	rows := [][4]string{{"", r.From.Version, r.To.Version, "change"}}
	for i := range r.Effects {
		e := &r.Effects[i]
		change := fmt.Sprintf("%+.1f %%", 100*e.Change)
		if e.Low != nil {
			change += fmt.Sprintf(" (%+.0f…%+.0f)", 100**e.Low, 100**e.High)
		}
		rows = append(rows, [4]string{e.What + ", " + e.Unit, rangeWords(e.From), rangeWords(e.To), change})
	}
	for i, row := range rows {
		if u.markdown {
			fmt.Fprintf(u.w, "| %s |\n", strings.Join(row[:], " | "))
			if i == 0 {
				fmt.Fprintln(u.w, "|---|---|---|---|")
			}
			continue
		}
		fmt.Fprintf(u.w, "  %-28s%-24s%-24s%s\n", row[0], row[1], row[2], row[3])
	}
	if d := r.Drift; d != nil {
		const weeks = 4 // of a month, about
		if u.markdown {
			fmt.Fprintln(u.w)
		}
		u.line("Engines change by more than is modelled: in %s, %d deployments about %d weeks apart changed TPOT by %+.0f %% (%+.0f…%+.0f)"+
			" and TTFT by %+.0f %% (%+.0f…%+.0f). The intervals of the changes include this.",
			d.Source, d.Cases, weeks*d.Months, 100*d.TPOT.Value, 100*d.TPOT.Low, 100*d.TPOT.High, 100*d.TTFT.Value, 100*d.TTFT.Low, 100*d.TTFT.High)
	}
}

// rangeWords is a value with its interval, if it has one.
func rangeWords(x figures.Estimate) string {
	if x.Low == x.High {
		return fmt.Sprintf("%.0f", x.Value)
	}
	short := func(x float64) string {
		if x >= 100 {
			return fmt.Sprintf("%.0f", x)
		}
		return fmt.Sprintf("%.3g", x)
	}
	return fmt.Sprintf("%s (%s–%s)", short(x.Value), short(x.Low), short(x.High))
}
