package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/ops/accuracy"
)

// pageCommand prints the tables of errors of docs/accuracy.md.
func pageCommand(p *Program, fs *flag.FlagSet) func(context.Context, []string) error {
	rival, workers := fs.String("beside", "", "another program's predictions as `NAME=FILE`, a CSV file with id, ttft_ms and tpot_ms"), fs.Int("j", p.Workers, "parallel workers")
	return func(ctx context.Context, files []string) error {
		if err := rowsOf(files); err != nil {
			return err
		}
		r := accuracy.Request{File: files[0], Workers: *workers}
		fitted, err := accuracy.Run(ctx, p.Session, r)
		if err != nil {
			return err
		}
		r.Uncalibrated = true
		without, err := accuracy.Run(ctx, p.Session, r)
		if err != nil {
			return err
		}
		all := []predictor{{"fitted", fitted.Rows}, {"without the fit", without.Rows}}
		if *rival != "" {
			name, file, ok := strings.Cut(*rival, "=")
			if !ok {
				return errors.New("-beside must be NAME=FILE")
			}
			rows, err := beside(p.Session, file, fitted.Rows)
			if err != nil {
				return err
			}
			all = append(all, predictor{name, rows})
		}
		page(p.Stdout, all, filepath.Base(files[0]))
		return nil
	}
}

// predictor is a program on the page, with what it says of the rows.
type predictor struct {
	name string
	rows []measured.Compared
}

// page prints the errors of clean rows as tables in Markdown: with the fit, without it, and beside another program, each
// on the rows that all of them predict.
func page(w io.Writer, all []predictor, file string) {
	all = common(all)
	fmt.Fprintf(w, "%d clean rows of `%s` that every column predicts. Errors in percent: mean (median) of |predicted − measured| over measured.\n", len(all[0].rows), file)
	for _, by := range []struct {
		title string
		key   func(*measured.Row) string
	}{
		{"mode", func(r *measured.Row) string { return r.Mode + "regated" }},
		{"device", func(r *measured.Row) string { return r.System }},
		{"engine", func(r *measured.Row) string { return r.Engine }},
		{"model", func(r *measured.Row) string { return r.Model }},
	} {
		pageTable(w, by.title, by.key, all)
	}
	fmt.Fprint(w, "\n| following | choices of a layout | throughput below the best |\n|---|---|---|\n")
	for i, p := range all {
		g := document.NewRegret(measured.Regrets(p.rows))
		fmt.Fprintf(w, "| %s | %d | %s |\n", p.name, g.Choices, pc(g.Mean))
		if i == len(all)-1 {
			fmt.Fprintf(w, "| a random choice | %d | %s |\n", g.Choices, pc(g.Random))
		}
	}
}

// common keeps the clean rows that every program predicts.
func common(all []predictor) []predictor {
	out := make([]predictor, len(all))
	for i, p := range all {
		out[i].name = p.name
	}
	for i := range all[0].rows {
		keep := all[0].rows[i].Row.Quality == ""
		for _, p := range all {
			keep = keep && p.rows[i].Pred.Err == nil
		}
		if !keep {
			continue
		}
		for j, p := range all {
			out[j].rows = append(out[j].rows, p.rows[i])
		}
	}
	return out
}

// pageTable prints a table with the errors of TPOT and TTFT of every program.
func pageTable(w io.Writer, title string, key func(*measured.Row) string, all []predictor) {
	head := []string{title, "rows"}
	for _, q := range []string{"TPOT", "TTFT"} {
		for _, p := range all {
			head = append(head, q+", "+p.name)
		}
	}
	fmt.Fprintf(w, "\n| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for i, part := range measured.By(all[0].rows, key) {
		cells := []string{part.Name, strconv.Itoa(len(part.Rows))}
		for _, q := range []measured.Quantity{measured.TPOT, measured.TTFT} {
			for _, p := range all {
				e := q.Errors(measured.By(p.rows, key)[i].Rows)
				if e.Rows == 0 {
					cells = append(cells, "–")
					continue
				}
				cells = append(cells, fmt.Sprintf("%.1f (%.1f)", 100*e.MAPE, 100*e.MedianAPE))
			}
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
}
