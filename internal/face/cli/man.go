package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// roffText protects what roff would read as its own: backslashes and hyphens anywhere, dots and quotes at the start of a line.
func roffText(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// pageName is the name of a command's manual page: plimsoll-cli-default.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// writeMan writes the manual page of a command in roff, with the texts of its help. There is no date in it, so that the same
// source gives the same page; cobra's generator would add a Markdown parser to the program.
func writeMan(w io.Writer, cmd *cobra.Command) {
	section := func(title, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(w, ".SH %s\n%s\n", strings.ToUpper(title), text)
		}
	}
	name := pageName(cmd)
	fmt.Fprintf(w, ".TH %q 1 \"\" Plimsoll \"Plimsoll manual\"\n.nh\n.ad l\n", strings.ToUpper(name))
	section("Name", fmt.Sprintf("%s \\- %s", roffText(name), roffText(lowerFirst(cmd.Short))))
	section("Synopsis", `\fB`+roffText(cmd.UseLine())+`\fR`)
	section("Description", roffParagraphs(cmd.Long))
	if cmd.Example != "" {
		section("Examples", ".nf\n"+roffText(strings.TrimRight(cmd.Example, "\n"))+"\n.fi")
	}
	var below, see strings.Builder
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			fmt.Fprintf(&below, ".TP\n\\fB%s\\fR(1)\n%s\n", roffText(pageName(c)), roffText(c.Short))
		}
	}
	section("Commands", below.String())
	cmd.InheritedFlags() // merges the flags of its parents into cmd.Flags
	for _, s := range sections(cmd.Flags()) {
		var flags strings.Builder
		for _, f := range s.flags {
			fmt.Fprintf(&flags, ".TP\n\\fB%s\\fR\n%s\n", roffText(strings.TrimSpace(flagName(f))), roffText(flagText(f)))
		}
		title := "Options"
		if s.title != "Flags" {
			title += ": " + s.title
		}
		section(title, flags.String())
	}
	if p := cmd.Parent(); p != nil {
		fmt.Fprintf(&see, "\\fB%s\\fR(1)", roffText(pageName(p)))
	}
	section("Exit status", "0 if it succeeds, 1 if a valid request fails or finds an error, 2 if the request is invalid, 70 for a bug of the program, 134 (SIGABRT) for a fatal error of the Go runtime.")
	section("See also", see.String())
}

// roffParagraphs sets paragraphs; indented lines stay as they are.
func roffParagraphs(text string) string {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(paragraph, " ") {
			fmt.Fprintf(&b, ".PP\n.nf\n%s\n.fi\n", roffText(paragraph))
		} else {
			fmt.Fprintf(&b, ".PP\n%s\n", roffText(paragraph))
		}
	}
	return b.String()
}

// lowerFirst makes the first letter small, as the names of manual pages have it, unless a name like AIConfigurator begins it.
func lowerFirst(s string) string {
	if len(s) > 1 && strings.ToUpper(s[1:2]) != s[1:2] {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// writeManPages writes the pages of a command and those below it into a directory.
func writeManPages(env *Env, dir string, cmd *cobra.Command) error {
	pages := map[string]*cobra.Command{}
	var collect func(*cobra.Command)
	collect = func(c *cobra.Command) {
		pages[pageName(c)+".1"] = c
		for _, below := range c.Commands() {
			if below.IsAvailableCommand() {
				collect(below)
			}
		}
	}
	collect(cmd)
	return env.createAll("man-dir", dir, slices.Sorted(maps.Keys(pages)), func(name string, w io.Writer) error {
		writeMan(w, pages[name])
		return nil
	})
}
