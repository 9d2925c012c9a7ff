// Sample chooses the few measured rows that the tests keep (internal/evidence/measured/testdata/silicon-sample.csv) from a file of
// many, always the same ones:
//
//	go -C tools run ./sample <measured.csv >internal/evidence/measured/testdata/silicon-sample.csv
//
// Rows stand in an order that says nothing about them, that of a hash of their names. The rule:
//
//   - From each engine, system, model, mode and precision with at least three clean rows, the first clean one of a band of
//     concurrency: up to 8, up to 64, above, in turn from one such group to the next. Groups of forty clean rows or more
//     give a second one, of the next band.
//   - Of each mark on the quality of rows, the first row and the next one measured with it, that is of the same source,
//     engine, system, model and precision; of two or more marks together none. Beside a row that was exported twice
//     stands the one with the same times.
//
// The chosen rows keep their order and all their columns.
package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	least = 3  // clean rows of a group that gives one
	many  = 40 // clean rows of a group that gives two
)

func main() {
	rows, err := csv.NewReader(os.Stdin).ReadAll()
	if err == nil && len(rows) < 2 {
		err = errors.New("no rows")
	}
	if err == nil {
		err = csv.NewWriter(os.Stdout).WriteAll(sample(rows))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sample:", err)
		os.Exit(1)
	}
}

// sample is the header and the chosen rows.
func sample(rows [][]string) [][]string {
	head, rows := rows[0], rows[1:]
	of := func(row []string, column string) string { return row[slices.Index(head, column)] }
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	hash := func(i int) uint64 {
		h := fnv.New64a()
		h.Write([]byte(of(rows[i], "id")))
		return h.Sum64()
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(hash(a), hash(b)) })
	chosen := map[int]bool{}
	key := func(i int) string {
		r := rows[i]
		return strings.Join([]string{of(r, "backend"), of(r, "system"), of(r, "model_path"), of(r, "mode"), of(r, "precision")}, " ")
	}
	source := func(i int) string {
		s, _, _ := strings.Cut(of(rows[i], "silicon_data_source"), ";")
		return s
	}
	groups, marks := map[string][]int{}, map[string][]int{}
	for _, i := range order {
		if mark := of(rows[i], "quality"); mark != "" {
			marks[mark] = append(marks[mark], i)
		} else {
			groups[key(i)] = append(groups[key(i)], i)
		}
	}
	turn := 0
	for _, key := range sorted(groups) {
		group := groups[key]
		if len(group) < least {
			continue
		}
		for range 1 + min(1, len(group)/many) {
			chosen[first(group, turn, chosen, func(i int) int { return band(of(rows[i], "concurrency")) })] = true
			turn++
		}
	}
	for _, mark := range sorted(marks) {
		if !strings.Contains(mark, " ") {
			pair(marks[mark], chosen, func(a, b int) bool { return key(a) == key(b) && source(a) == source(b) })
		}
	}
	twins(rows, of, chosen)
	out := [][]string{head}
	for i := range rows {
		if chosen[i] {
			out = append(out, rows[i])
		}
	}
	return out
}

// pair chooses the first of marked rows and the next one measured with it.
func pair(marked []int, chosen map[int]bool, together func(a, b int) bool) {
	chosen[marked[0]] = true
	for _, i := range marked[1:] {
		if together(i, marked[0]) {
			chosen[i] = true
			return
		}
	}
}

// first is the first row of a band that was not chosen, or of the next band that has any.
func first(group []int, turn int, chosen map[int]bool, band func(int) int) int {
	for b := turn; ; b++ {
		for _, i := range group {
			if !chosen[i] && band(i) == b%bands {
				return i
			}
		}
	}
}

const bands = 3

// band is that of a concurrency.
func band(concurrency string) int {
	n, err := strconv.Atoi(concurrency)
	switch {
	case err != nil || n <= 8:
		return 0
	case n <= 64:
		return 1
	}
	return 2
}

// twins adds, for every chosen duplicate, the rows with the same times.
func twins(rows [][]string, of func([]string, string) string, chosen map[int]bool) {
	times := func(r []string) string { return of(r, "silicon_ttft_ms") + " " + of(r, "silicon_tpot_ms") }
	twice := map[string]bool{}
	for i := range rows {
		if chosen[i] && of(rows[i], "quality") == "duplicate" {
			twice[times(rows[i])] = true
		}
	}
	for i := range rows {
		if twice[times(rows[i])] {
			chosen[i] = true
		}
	}
}

func sorted(m map[string][]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
