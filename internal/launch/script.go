package launch

import (
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
)

// document is a text that a script passes to a command or writes into a file.
type document struct {
	file string // "" for the input of a command
	text string
	line int // of its first line
}

// script follows a shell script without running it: which commands it runs, in which order and with
// which words. Variables that the script does not set, and what other programs print, stay in the words
// as "${NAME}" and "$(program)". A condition that depends on one is neither true nor false: both ways are
// followed, and the first sets what was not set before.
type script struct {
	vars      map[string]expand.Variable
	functions map[string]*syntax.Stmt
	open      map[string]bool // unset variables that are to stay in the word that is expanded
	budget    *budget
	first     int     // the line before the first
	unquoted  []Place // JSON that a shell takes apart
	beside    bool    // the next statement does not wait for this one
	branch    bool    // another one may be taken

	run  func(call, map[string]expand.Variable) error
	data func(document)
}

// follow reads a script.
func (s *script) follow(text string) error {
	file, err := parsed(text)
	if err != nil {
		return err
	}
	if s.functions == nil {
		s.functions = map[string]*syntax.Stmt{}
	}
	return s.list(file.Stmts)
}

// parsed is the syntax of a script. Documentation has "<name>" where a value is to be written, which a shell
// reads as a redirection: a script that is none otherwise is read with them quoted.
func parsed(text string) (*syntax.File, error) {
	file, err := parse(text)
	if err == nil || over(err) {
		return file, err
	}
	quoted := placeholder.ReplaceAllStringFunc(text, strings.NewReplacer("<", `\<`, ">", `\>`, " ", `\ `).Replace)
	if again, failed := parse(quoted); failed == nil {
		return again, nil
	}
	return nil, err
}

var placeholder = regexp.MustCompile(`<([A-Za-z][\w ./:-]*)>`)

// environment gives the variables of a script to the package that expands words.
type environment struct{ s *script }

// Get is a variable.
func (e environment) Get(name string) expand.Variable {
	if v, ok := e.s.vars[name]; ok {
		return v
	}
	switch {
	case name == "#":
		return holding("0")
	case name == "HOME" || strings.HasPrefix(name, "HOME "):
		return holding("~" + strings.TrimPrefix(strings.TrimPrefix(name, "HOME"), " "))
	case e.s.open[name]:
		return holding("${" + name + "}")
	}
	return expand.Variable{}
}

// Each lists the variables.
func (e environment) Each(f func(string, expand.Variable) bool) {
	for _, name := range slices.Sorted(maps.Keys(e.s.vars)) {
		if !f(name, e.s.vars[name]) {
			return
		}
	}
}

// Set changes one: "${X:=value}" and arithmetic do.
func (e environment) Set(name string, v expand.Variable) error {
	e.s.vars[name] = v
	return nil
}

// config is how words are expanded. No file is looked at and no program runs.
func (s *script) config() *expand.Config {
	return &expand.Config{Env: environment{s}, CmdSubst: s.printed, ProcSubst: func(*syntax.ProcSubst) (string, error) { return "$(file)", nil }}
}

// opens finds the unset variables of a node that have no default, and reports whether the node has to stay as it is written: where
// arithmetic depends on one, which to a shell is 0 there, and where it names an element of an array that is not set.
func (s *script) opens(n syntax.Node) (stays bool) {
	s.open = nil
	seen := uint(0) // the end of what was looked at
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			stays = stays || s.unsetElement(n)
			if n.Param != nil && n.Exp == nil && n.Index == nil && !n.Length && !n.Excl && !strings.ContainsAny(n.Param.Value, "@*#?$!-") {
				if s.open == nil {
					s.open = map[string]bool{}
				}
				s.open[n.Param.Value] = true
			}
		case *syntax.ArithmExp:
			stays = stays || n.Pos().Offset() >= seen && s.unset(n.X)
			seen = max(seen, n.End().Offset())
		}
		return true
	})
	return stays
}

// unsetElement reports a numbered element of an array that is not set.
func (s *script) unsetElement(p *syntax.ParamExp) bool {
	w, ok := p.Index.(*syntax.Word)
	if !ok || p.Param == nil || p.Exp != nil || (environment{s}).Get(p.Param.Value).IsSet() {
		return false
	}
	_, isNumber := number(w.Lit())
	return isNumber
}

// unset reports whether an expression has a variable without a value.
func (s *script) unset(x syntax.ArithmExpr) bool {
	out := false
	syntax.Walk(x, func(n syntax.Node) bool {
		name := ""
		switch n := n.(type) {
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp == nil {
				name = n.Param.Value
			}
		case *syntax.Word:
			if lit := n.Lit(); syntax.ValidName(lit) {
				name = lit
			}
		}
		out = out || name != "" && !environment{s}.Get(name).IsSet()
		return true
	})
	return out
}

// printed is the output of a command substitution, if it can be told from the text.
func (s *script) printed(w io.Writer, c *syntax.CmdSubst) error {
	if len(c.Stmts) == 1 {
		if text, ok := s.output(c.Stmts[0]); ok {
			_, err := io.WriteString(w, text)
			return err
		}
	}
	name := "…"
	if len(c.Stmts) > 0 {
		if call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 && call.Args[0].Lit() != "" {
			name = path.Base(call.Args[0].Lit())
		}
	}
	_, err := io.WriteString(w, "$("+name+")")
	return err
}

// output is what a command prints, for the few whose output is in their text.
func (s *script) output(stmt *syntax.Stmt) (string, bool) {
	c, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return "", false
	}
	if c.Args[0].Lit() == "cat" && len(c.Args) == 1 && len(stmt.Redirs) == 1 && stmt.Redirs[0].Hdoc != nil {
		return s.text(stmt.Redirs[0].Hdoc), true
	}
	words := s.words(c.Args...).words
	if len(words) == 0 || len(stmt.Redirs) > 0 {
		return "", false
	}
	switch rest := words[1:]; words[0] {
	case "echo":
		return strings.Join(slices.DeleteFunc(rest, func(w string) bool { return w == "-n" || w == "-e" }), " "), true
	case "seq":
		return s.sequence(stmt, rest)
	case "basename":
		return path.Base(slices.Concat(rest, []string{""})[0]), len(rest) > 0
	}
	return "", false
}

// sequence is the output of "seq".
func (s *script) sequence(c syntax.Node, args []string) (string, bool) {
	at := []int{1, 1, 0}
	for i, a := range args {
		n, ok := number(a)
		if !ok || i > 2 {
			return "", false
		}
		at[map[int][]int{1: {2}, 2: {0, 2}, 3: {0, 1, 2}}[len(args)][i]] = n
	}
	if len(args) == 0 || at[1] == 0 {
		return "", false
	}
	var out []string
	for n := at[0]; at[1] > 0 && n <= at[2] || at[1] < 0 && n >= at[2]; n += at[1] {
		if len(out) == bound.Words {
			s.over(c, bound.Words, "numbers of seq")
			return "", false
		}
		out = append(out, strconv.Itoa(n))
	}
	return strings.Join(out, "\n"), true
}

// words expands words as a shell does, but file names.
func (s *script) words(all ...*syntax.Word) call {
	var out call
	for _, w := range all {
		line := s.first + int(w.Pos().Line())
		if !s.spend(w) || !s.braces(w) {
			break
		}
		if text, ok := s.json(w); ok {
			_, object, _ := strings.Cut(text, "{")
			s.unquoted = append(s.unquoted, Place{Line: line, Flag: "{" + object})
			out.add(line, text)
			continue
		}
		if s.opens(w) {
			out.add(line, strings.ReplaceAll(strings.Join(strings.Fields(wordText(w)), ""), `"`, ""))
			continue
		}
		if p := onlyParameter(w); p == "@" || p == "*" {
			if _, ok := s.vars["@"]; !ok {
				continue // the script's own arguments are unknown
			}
		}
		n := 0
		for text, err := range expand.FieldsSeq(s.config(), w) {
			if n++; n > bound.Words {
				s.over(w, bound.Words, "words that one word becomes")
			}
			if err != nil || s.budget.spend(line, len(text)) != nil {
				out.add(line, wordText(w))
				break
			}
			out.add(line, text)
		}
	}
	return out
}

// onlyParameter is the name of the parameter that a word consists of.
func onlyParameter(w *syntax.Word) string {
	parts := w.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
	}
	if len(parts) == 1 {
		if p, ok := parts[0].(*syntax.ParamExp); ok && p.Param != nil {
			return p.Param.Value
		}
	}
	return ""
}

// json is a word of JSON that is not quoted. A shell would remove the quotes inside it.
func (s *script) json(w *syntax.Word) (string, bool) {
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok || !strings.HasPrefix(lit.Value, "{") && !strings.Contains(lit.Value, "={") || len(w.Parts) < 2 {
		return "", false
	}
	text := wordText(w)
	_, object, _ := strings.Cut(text, "{")
	return text, isJSON("{" + object)
}

// wordText is a word as it is written.
func wordText(w *syntax.Word) string {
	var b strings.Builder
	// Printing a node into a builder cannot fail.
	_ = syntax.NewPrinter().Print(&b, w)
	return b.String()
}

// text expands a word that stays whole.
func (s *script) text(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	if !s.spend(w) {
		return ""
	}
	arithmetic := s.opens(w)
	out, err := expand.Document(s.config(), w)
	if err != nil || arithmetic {
		return wordText(w)
	}
	return out
}

// isOpen reports a text with something that the file does not tell.
func isOpen(text string) bool { return strings.Contains(text, "${") || strings.Contains(text, "$(") }

// list follows statements in order.
func (s *script) list(all []*syntax.Stmt) error {
	for _, stmt := range all {
		if err := s.statement(stmt); err != nil {
			return err
		}
	}
	return nil
}

// statement follows one statement.
func (s *script) statement(stmt *syntax.Stmt) error {
	if err := s.budget.step(s.line(stmt)); err != nil {
		return err
	}
	s.redirects(stmt)
	if stmt.Background && !s.beside {
		s.beside = true
		defer func() { s.beside = false }()
	}
	return s.command(stmt.Cmd)
}

// command follows a command of the language.
func (s *script) command(c syntax.Command) error {
	switch c := c.(type) {
	case *syntax.CallExpr:
		return s.call(c)
	case *syntax.DeclClause:
		return s.declare(c)
	case *syntax.BinaryCmd:
		return s.list([]*syntax.Stmt{c.X, c.Y})
	case *syntax.Block:
		return s.list(c.Stmts)
	case *syntax.Subshell:
		return s.list(c.Stmts)
	case *syntax.IfClause:
		return s.choose(c)
	case *syntax.WhileClause:
		if (s.condition(c.Cond) != fails) == !c.Until {
			return s.maybe(c.Do)
		}
	case *syntax.ForClause:
		return s.loop(c)
	case *syntax.CaseClause:
		return s.match(c)
	case *syntax.FuncDecl:
		if c.Name != nil {
			s.functions[c.Name.Value] = c.Body
		}
	}
	return nil
}

// redirects finds the texts that a command is given, and those that it writes into files.
func (s *script) redirects(stmt *syntax.Stmt) {
	into := ""
	for _, r := range stmt.Redirs {
		if (r.Op == syntax.RdrOut || r.Op == syntax.AppOut || r.Op == syntax.RdrClob) && r.Word != nil {
			into = s.text(r.Word)
		}
	}
	if c, ok := stmt.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 1 && c.Args[0].Lit() == "tee" {
		into = s.text(c.Args[len(c.Args)-1])
	}
	for _, r := range stmt.Redirs {
		if r.Hdoc != nil && s.data != nil {
			s.data(document{into, s.text(r.Hdoc), s.first + int(r.Hdoc.Pos().Line())})
		}
	}
	if into == "" || s.data == nil {
		return
	}
	if out, ok := s.output(&syntax.Stmt{Position: stmt.Position, Cmd: stmt.Cmd}); ok {
		s.data(document{into, out, s.first + int(stmt.Pos().Line())})
	}
}

// call follows a command: assignments, a function of the script, or a program.
func (s *script) call(c *syntax.CallExpr) error {
	if len(c.Args) == 0 {
		s.assign(c.Assigns)
		return nil
	}
	words := s.words(c.Args...)
	if len(words.words) == 0 {
		return nil
	}
	switch words.words[0] {
	case "set":
		if i := slices.Index(words.words, "--"); i > 0 {
			s.positional(words.words[i+1:])
		}
		return nil
	case "shift", "exit", "return", "cd", "source", ".", "unset":
		return nil
	}
	if body, ok := s.functions[words.words[0]]; ok {
		if err := s.budget.toil(s.line(c), perVariable*len(s.vars)); err != nil {
			return err
		}
		defer func(was map[string]expand.Variable) {
			for _, name := range positionalNames(s.vars, was) {
				delete(s.vars, name)
				if v, ok := was[name]; ok {
					s.vars[name] = v
				}
			}
		}(maps.Clone(s.vars))
		s.positional(words.words[1:])
		return s.budget.nested(s.line(c), func() error { return s.statement(body) })
	}
	if s.run == nil {
		return nil
	}
	if err := s.budget.toil(s.line(c), perVariable*len(s.vars)); err != nil {
		return err
	}
	own := maps.Clone(s.vars)
	inner := script{vars: own, budget: s.budget, first: s.first}
	inner.assign(c.Assigns)
	words.beside, words.maybe = s.beside, s.branch
	return s.run(words, own)
}

// positionalNames are the names of arguments in two sets of variables.
func positionalNames(sets ...map[string]expand.Variable) []string {
	var out []string
	for _, set := range sets {
		for name := range set {
			if _, isNumber := number(name); isNumber || name == "@" || name == "#" {
				out = append(out, name)
			}
		}
	}
	return out
}

// positional sets the arguments "$1" and so on.
func (s *script) positional(args []string) {
	for _, name := range positionalNames(s.vars) {
		delete(s.vars, name)
	}
	for i, a := range args {
		s.vars[strconv.Itoa(i+1)] = holding(a)
	}
	s.vars["@"] = expand.Variable{Set: true, Kind: expand.Indexed, List: args}
	s.vars["#"] = holding(strconv.Itoa(len(args)))
}

// assign sets variables. One that is set to nothing but what the file does not tell stays unset, so that
// its default applies.
func (s *script) assign(all []*syntax.Assign) {
	for _, a := range all {
		switch {
		case a.Name == nil || a.Naked:
		case a.Array != nil:
			s.assignList(a)
		default:
			text := ""
			if a.Value != nil {
				text = s.literal(a.Value)
			}
			switch {
			case a.Append:
				was := s.vars[a.Name.Value].String()
				if s.budget.spend(s.line(a), len(was)+len(text)) != nil {
					return
				}
				text = was + text
			case strings.HasPrefix(text, "${") && openWord.MatchString(text):
				delete(s.vars, a.Name.Value)
				continue
			}
			s.vars[a.Name.Value] = holding(text)
		}
	}
}

// assignList sets an array.
func (s *script) assignList(a *syntax.Assign) {
	var list []string
	if a.Append {
		list = slices.Clone(s.vars[a.Name.Value].List)
	}
	for _, e := range a.Array.Elems {
		if e.Value != nil {
			list = append(list, s.words(e.Value).words...)
		}
	}
	v := expand.Variable{Set: true, Kind: expand.Indexed, List: list}
	if s.budget.spend(s.line(a), length(v)) == nil {
		s.vars[a.Name.Value] = v
	}
}

// literal is a word without its quotes, not divided.
func (s *script) literal(w *syntax.Word) string {
	if !s.spend(w) {
		return ""
	}
	arithmetic := s.opens(w)
	out, err := expand.Literal(s.config(), w)
	if err != nil || arithmetic {
		return strings.Join(strings.Fields(wordText(w)), "")
	}
	return out
}

// openWord is a text that is one unknown and nothing else.
var openWord = regexp.MustCompile(`^(\$\{\w+\}|\$\([^()]*\))$`)

// declare follows "export" and the like. A command after the assignments lost its line break.
func (s *script) declare(c *syntax.DeclClause) error {
	s.assign(c.Args)
	var words call
	for _, a := range c.Args {
		switch {
		case a.Name != nil && a.Naked:
			words.add(s.first+int(a.Pos().Line()), a.Name.Value)
		case a.Name == nil && a.Value != nil:
			words.join(s.words(a.Value))
		}
	}
	if name, _, _ := starts(words); name == "" || s.run == nil {
		return nil
	}
	return s.run(words, maps.Clone(s.vars))
}

// split are the words of a text as a shell divides it, of all its commands.
func split(text string, line int, b *budget) (call, error) {
	var out call
	s := &script{vars: map[string]expand.Variable{}, budget: b, first: line - 1, run: func(c call, _ map[string]expand.Variable) error {
		out.join(c)
		return nil
	}}
	if err := s.follow(text); err != nil {
		if over(err) {
			return call{}, b.fail(line, err)
		}
		return call{}, fmt.Errorf("not a command: %w", err)
	}
	return out, nil
}
