package launch

import (
	"maps"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
)

// truthValue is true, false, or unknown.
type truthValue int

const (
	unknown truthValue = iota
	holds
	fails
)

func truthOf(b bool) truthValue {
	if b {
		return holds
	}
	return fails
}

// not is the opposite.
func (t truthValue) not() truthValue { return map[truthValue]truthValue{holds: fails, fails: holds}[t] }

// choose follows the branch that is taken, or all if that cannot be told.
func (s *script) choose(c *syntax.IfClause) error {
	for ; c != nil; c = c.Else {
		when := holds
		if len(c.Cond) > 0 {
			when = s.condition(c.Cond)
		}
		switch when {
		case holds:
			return s.list(c.Then)
		case unknown:
			if err := s.maybe(c.Then); err != nil {
				return err
			}
		case fails:
		}
	}
	return nil
}

// maybe follows statements that may not run: they set only what is not set.
func (s *script) maybe(all []*syntax.Stmt) error {
	if err := s.budget.toil(1, perVariable*len(s.vars)); err != nil || len(all) == 0 {
		return err
	}
	was, branch := maps.Clone(s.vars), s.branch
	s.branch = true
	err := s.list(all)
	s.branch = branch
	maps.Copy(s.vars, was)
	return err
}

// condition is the truth of the last of some statements.
func (s *script) condition(cond []*syntax.Stmt) truthValue {
	if len(cond) == 0 {
		return unknown
	}
	stmt := cond[len(cond)-1]
	out := unknown
	switch c := stmt.Cmd.(type) {
	case *syntax.TestClause:
		out = s.test(c.X)
	case *syntax.ArithmCmd:
		s.opens(c)
		if !s.spend(c) {
			return unknown
		}
		if n, err := expand.Arithm(s.config(), c.X); err == nil {
			out = truthOf(n != 0)
		}
	case *syntax.BinaryCmd:
		x, y := s.condition([]*syntax.Stmt{c.X}), s.condition([]*syntax.Stmt{c.Y})
		switch c.Op {
		case syntax.OrStmt:
			out = either(x, y)
		case syntax.AndStmt:
			out = either(x.not(), y.not()).not()
		case syntax.Pipe, syntax.PipeAll:
		}
	case *syntax.CallExpr:
		out = succeeds(s.words(c.Args...).words)
	}
	if stmt.Negated {
		return out.not()
	}
	return out
}

// succeeds is the truth of a command.
func succeeds(words []string) truthValue {
	switch {
	case len(words) == 0:
	case words[0] == "true" || words[0] == ":":
		return holds
	case words[0] == "false":
		return fails
	case words[0] == "test" || words[0] == "[":
		if words = words[1:]; len(words) > 0 && words[len(words)-1] == "]" {
			words = words[:len(words)-1]
		}
		return tested(words)
	}
	return unknown
}

// either is "or".
func either(x, y truthValue) truthValue {
	switch {
	case x == holds || y == holds:
		return holds
	case x == fails && y == fails:
		return fails
	}
	return unknown
}

// tested is the truth of the words of "[ … ]".
func tested(words []string) truthValue {
	switch {
	case len(words) > 1 && words[0] == "!":
		return tested(words[1:]).not()
	case len(words) == 1:
		return compared("-n", words[0], "")
	case len(words) == 2:
		return compared(words[0], words[1], "")
	case len(words) == 3:
		return compared(words[1], words[0], words[2])
	}
	return unknown
}

// test is the truth of "[[ … ]]".
func (s *script) test(x syntax.TestExpr) truthValue {
	switch x := x.(type) {
	case *syntax.ParenTest:
		return s.test(x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			return s.test(x.X).not()
		}
		if w, ok := x.X.(*syntax.Word); ok {
			return compared(x.Op.String(), s.literal(w), "")
		}
	case *syntax.BinaryTest:
		if x.Op == syntax.AndTest {
			return either(s.test(x.X).not(), s.test(x.Y).not()).not()
		}
		if x.Op == syntax.OrTest {
			return either(s.test(x.X), s.test(x.Y))
		}
		a, first := x.X.(*syntax.Word)
		b, second := x.Y.(*syntax.Word)
		if first && second {
			return compared(x.Op.String(), s.literal(a), s.literal(b))
		}
	case *syntax.Word:
		return compared("-n", s.literal(x), "")
	}
	return unknown
}

// compared is the truth of a comparison.
func compared(op, a, b string) truthValue {
	if isOpen(a) || isOpen(b) {
		return unknown
	}
	x, first := number(a)
	y, second := number(b)
	switch op {
	case "-z":
		return truthOf(a == "")
	case "-n":
		return truthOf(a != "")
	case "=", "==", "!=":
		if strings.ContainsAny(b, "*?[") {
			return unknown
		}
		return truthOf((a == b) == (op != "!="))
	}
	if !first || !second {
		return unknown
	}
	is, known := map[string]bool{"-eq": x == y, "-ne": x != y, "-gt": x > y, "-ge": x >= y, "-lt": x < y, "-le": x <= y}[op]
	if !known {
		return unknown
	}
	return truthOf(is)
}

// loop follows the turns of a "for".
func (s *script) loop(c *syntax.ForClause) error {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		for _, item := range s.words(l.Items...).words {
			if l.Name != nil && !openWord.MatchString(item) {
				s.vars[l.Name.Value] = holding(item)
			}
			if err := s.list(c.Do); err != nil {
				return err
			}
		}
	case *syntax.CStyleLoop:
		if l.Cond == nil { // it ends from inside, if at all
			return s.maybe(c.Do)
		}
		for turns, more := 0, s.arithmetic(l.Init) != nil || l.Init == nil; more; turns++ {
			if turns == bound.Words {
				s.over(c, bound.Words, "turns of a loop")
				return s.budget.err
			}
			n := s.arithmetic(l.Cond)
			if n == nil || s.unset(l.Cond) {
				return s.maybe(c.Do)
			}
			if *n == 0 {
				return nil
			}
			if err := s.list(c.Do); err != nil {
				return err
			}
			more = s.arithmetic(l.Post) != nil
		}
	}
	return nil
}

// arithmetic is the value of an expression, 1 of none, nil if it cannot be told.
func (s *script) arithmetic(x syntax.ArithmExpr) *int {
	if x == nil {
		return new(1)
	}
	if !s.spend(x) {
		return nil
	}
	s.open = nil
	n, err := expand.Arithm(s.config(), x)
	if err != nil {
		return nil
	}
	return &n
}

// match follows the arm of a "case" that matches, or all if that cannot be told.
func (s *script) match(c *syntax.CaseClause) error {
	value := s.literal(c.Word)
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			if !s.spend(p) || !s.compares(value, p) {
				return s.budget.err
			}
			s.opens(p)
			glob, err := expand.Pattern(s.config(), p)
			if err != nil {
				continue
			}
			expression, err := pattern.Regexp(glob, pattern.EntireString)
			if err != nil {
				continue
			}
			if isOpen(value) {
				if err := s.maybe(item.Stmts); err != nil {
					return err
				}
				break
			}
			if ok, err := regexp.MatchString(expression, value); err == nil && ok {
				return s.list(item.Stmts)
			}
		}
	}
	return nil
}
