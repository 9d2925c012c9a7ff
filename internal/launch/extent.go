package launch

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
)

// extent computes how long a text can become at most, before it is expanded, from its literals and the lengths of the variables.
type extent struct {
	s        *script
	work     int            // of patterns that are compared with texts
	assigned map[string]int // lengths that the text itself sets, as "${X:=text}" does
}

// Extents in bytes, and a bound that keeps sums and products of them from overflowing. Work is counted as the bytes of text
// that take as long.
const (
	longestNumber   = 24                          // of arithmetic, lengths and counts
	longestSequence = bound.Words * longestNumber // of "seq"
	longestQuote    = 8                           // of a byte that "${X@Q}" quotes
	perPattern      = 512                         // to read a pattern
	perLetter       = 64                          // to read a byte of it
	perVariable     = 64                          // to copy a variable
	hugeExtent      = 1 << 40
)

// spend takes what some words or an expression expand to from the budget; false if there is too little.
func (s *script) spend(all ...syntax.Node) bool {
	for _, n := range all {
		e := extent{s: s}
		size := e.of(n)
		if s.budget.spend(s.line(n), size) != nil || s.budget.toil(s.line(n), e.work) != nil {
			return false
		}
	}
	return true
}

// compares takes the work of comparing a text with a pattern from the budget.
func (s *script) compares(text string, pattern syntax.Node) bool {
	e := extent{s: s}
	e.pattern(len(text), e.of(pattern))
	return s.budget.toil(s.line(pattern), e.work) == nil
}

// pattern adds the work of comparing a text with a pattern.
func (e *extent) pattern(text, pattern int) {
	e.work = min(e.work+perPattern+product(text+perLetter, pattern), hugeExtent)
}

// line is the line of a part of the script in its file.
func (s *script) line(n syntax.Node) int { return s.first + int(n.Pos().Line()) }

// of is the extent of a word, an expression, or nothing.
func (e *extent) of(n syntax.Node) int {
	total := 0
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			total += len(n.Value)
		case *syntax.SglQuoted:
			total += len(n.Value)
		case *syntax.ArithmExp, *syntax.ProcSubst, *syntax.ExtGlob:
			total += longestNumber
		case *syntax.CmdSubst:
			total += longestNumber
			if mayCount(n) {
				total += longestSequence
			}
		case *syntax.ParamExp:
			total += e.parameter(n)
			return false
		}
		total = min(total, hugeExtent)
		return true
	})
	return total
}

// mayCount reports whether a substitution may be of "seq", whose output is longer than its text.
func mayCount(c *syntax.CmdSubst) bool {
	if len(c.Stmts) != 1 {
		return false
	}
	call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	name := call.Args[0].Lit()
	return name == "seq" || name == ""
}

// parameter is the extent of a parameter.
func (e *extent) parameter(p *syntax.ParamExp) int {
	total, value := 0, e.value(p)
	if p.Index != nil {
		total += e.of(p.Index)
	}
	if p.Slice != nil {
		total += e.operand(p.Slice.Offset) + e.operand(p.Slice.Length)
	}
	if r := p.Repl; r != nil {
		pattern, with := e.word(r.Orig), e.word(r.With)
		total += pattern + value + product(value+1, with)
		e.pattern(value, pattern)
	} else if p.Exp != nil {
		total += e.expansion(p, value)
	} else {
		total += value
	}
	return min(total, hugeExtent)
}

// expansion is the extent of a parameter with an operator, such as "${X:-word}".
func (e *extent) expansion(p *syntax.ParamExp, value int) int {
	word := e.word(p.Exp.Word)
	switch p.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if e.assigned == nil {
			e.assigned = map[string]int{}
		}
		if p.Param != nil {
			e.assigned[p.Param.Value] = max(e.assigned[p.Param.Value], word)
		}
		return 2*word + value
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix,
		syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		e.pattern(value, word)
		return word + product(value, 2)
	case syntax.OtherParamOps:
		return word + product(value, longestQuote) + longestNumber
	default:
		return word + value
	}
}

// word is the extent of a word that may be missing.
func (e *extent) word(w *syntax.Word) int {
	if w == nil {
		return 0
	}
	return e.of(w)
}

// operand is the extent of an expression that may be missing.
func (e *extent) operand(x syntax.ArithmExpr) int {
	if x == nil {
		return 0
	}
	return e.of(x)
}

// product is one that does not overflow.
func product(a, b int) int {
	if a > 0 && b > hugeExtent/a {
		return hugeExtent
	}
	return a * b
}

// value is the extent of the variable that a parameter names. Which one "${!X}" names is not known before, and that of one that is
// not set is its name.
func (e *extent) value(p *syntax.ParamExp) int {
	if p.Param == nil || p.Length {
		return longestNumber
	}
	name := p.Param.Value
	if !p.Excl {
		n := max(length(e.s.vars[name]), e.assigned[name])
		if n == 0 && p.Exp == nil && p.Repl == nil {
			n = len("${}") + len(name)
		}
		return n
	}
	longest, names := 0, 0
	for name, v := range e.s.vars {
		longest, names = max(longest, length(v)), names+len(name)+1
	}
	for _, n := range e.assigned {
		longest = max(longest, n)
	}
	return longest + names + longestNumber
}

// length is that of a variable's value.
func length(v expand.Variable) int {
	n := len(v.Str)
	for _, text := range v.List {
		n += len(text) + 1
	}
	for key, text := range v.Map {
		n += len(key) + len(text) + 1
	}
	return n
}

// mostBraces are those of a word. Its expansion takes time with their square, and more words than are followed with eight
// pairs of them.
const mostBraces = 64

// braces reports whether a word has no more than that.
func (s *script) braces(w *syntax.Word) bool {
	n := 0
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			n += strings.Count(lit.Value, "{")
		}
	}
	if n > mostBraces {
		s.over(w, mostBraces, "braces in a word")
	}
	return n <= mostBraces
}

// over is a bound that a part of the script passes.
func (s *script) over(n syntax.Node, most int, what string) {
	_ = s.budget.fail(s.line(n), bound.Over(most, what))
}
