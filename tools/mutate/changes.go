package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// visit offers the changes of a node.
func (f *finder) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.CallExpr:
		f.extreme(n)
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ForStmt:
		f.condition(n.Cond)
	case *ast.AssignStmt:
		f.assign(n)
	case *ast.IncDecStmt:
		f.remove(n)
	case *ast.ExprStmt:
		f.remove(n)
	case *ast.ReturnStmt:
		f.nothing(n)
	}
	if e, ok := n.(ast.Expr); ok {
		f.constant(e)
	}
}

// swapped is what may stand instead of an operator, and the helper that chooses.
var swapped = map[token.Token]struct {
	instead token.Token
	helper  string
}{
	token.ADD: {token.SUB, "mutantAdd"}, token.SUB: {token.ADD, "mutantSub"}, token.MUL: {token.QUO, "mutantMul"}, token.QUO: {token.MUL, "mutantDiv"},
	token.LSS: {token.LEQ, "mutantLess"}, token.LEQ: {token.LSS, "mutantAtMost"}, token.GTR: {token.GEQ, "mutantMore"}, token.GEQ: {token.GTR, "mutantAtLeast"},
	token.LAND: {token.LOR, ""}, token.LOR: {token.LAND, ""},
}

// binary swaps operators: of arithmetic, of comparisons, of conditions.
func (f *finder) binary(n *ast.BinaryExpr) {
	if f.info.Types[n].Value != nil {
		return
	}
	x, y, other := f.info.Types[n.X], f.info.Types[n.Y], swapped[n.Op]
	number, fraction := numeric(x.Type)
	swap := variant{f.source(n.X) + " " + other.instead.String() + " " + f.source(n.Y), func(id int, text func(ast.Node) string) string {
		return fmt.Sprintf("%s(%d, %s, %s)", other.helper, id, text(n.X), text(n.Y))
	}}
	switch n.Op {
	case token.ADD, token.SUB, token.MUL, token.QUO:
		if number {
			f.add(n, swap)
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		// Two measured numbers are never equal: a boundary between them is no change.
		if fraction && !whole(x.Value) && !whole(y.Value) {
			f.add(n, f.negated(n))
		} else {
			f.add(n, f.negated(n), swap)
		}
	case token.EQL, token.NEQ:
		if !x.IsNil() && !y.IsNil() {
			f.add(n, f.negated(n))
		}
	case token.LAND, token.LOR:
		swap.wrap = func(id int, text func(ast.Node) string) string {
			a, b := text(n.X), text(n.Y)
			return fmt.Sprintf("(mutantOn(%d) && (%s %s %s) || mutantActive != %d && (%s %s %s))", id, a, other.instead, b, id, a, n.Op, b)
		}
		f.add(n, swap)
	}
}

// negated is a condition turned round.
func (f *finder) negated(e ast.Expr) variant {
	return variant{"!(" + f.source(e) + ")", func(id int, text func(ast.Node) string) string {
		return fmt.Sprintf("((%s) != mutantOn(%d))", text(e), id)
	}}
}

// condition negates a condition that is no comparison.
func (f *finder) condition(e ast.Expr) {
	if e == nil {
		return
	}
	if _, ok := ast.Unparen(e).(*ast.BinaryExpr); !ok {
		f.add(e, f.negated(e))
	}
}

// extreme swaps minimum and maximum.
func (f *finder) extreme(n *ast.CallExpr) {
	if f.info.Types[n].Value != nil || len(n.Args) < 2 || n.Ellipsis.IsValid() {
		return
	}
	other := map[string]string{"min": "max", "max": "min", "math.Min": "math.Max", "math.Max": "math.Min"}[f.callee(n)]
	if other == "" {
		return
	}
	f.add(n, variant{other + " of these", func(id int, text func(ast.Node) string) string {
		var args []string
		for _, a := range n.Args {
			args = append(args, text(a))
		}
		all := strings.Join(args, ", ")
		if helper := map[string]string{"min": "mutantMax", "max": "mutantMin"}[other]; helper != "" {
			return fmt.Sprintf("%s(%d, %s)", helper, id, all)
		}
		return fmt.Sprintf("mutantChoose(%d, %s, %s)(%s)", id, text(n.Fun), other, all)
	}})
}

// inBlock reports whether another statement may stand in place of the last one on the stack.
func (f *finder) inBlock() bool {
	switch f.stack[len(f.stack)-2].(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

func (f *finder) removed(n ast.Stmt) variant {
	return variant{"nothing", func(id int, text func(ast.Node) string) string {
		return fmt.Sprintf("if !mutantOn(%d) { %s }", id, text(n))
	}}
}

// remove drops a statement that is a call, a step up or a step down.
func (f *finder) remove(n ast.Stmt) {
	if e, ok := n.(*ast.ExprStmt); ok {
		if c, ok := e.X.(*ast.CallExpr); !ok || f.idleCall(c) {
			return
		}
	}
	if f.inBlock() {
		f.add(n, f.removed(n))
	}
}

// assign drops a sum or takes away instead.
func (f *finder) assign(n *ast.AssignStmt) {
	other := map[token.Token]token.Token{
		token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN,
	}[n.Tok]
	if other == token.ILLEGAL || !f.inBlock() {
		return
	}
	variants := []variant{f.removed(n)}
	if number, _ := numeric(f.info.TypeOf(n.Lhs[0])); number {
		variants = append(variants, variant{f.source(n.Lhs[0]) + " " + other.String() + " …", func(id int, text func(ast.Node) string) string {
			return fmt.Sprintf("if mutantOn(%d) { %s %s %s } else { %s }", id, text(n.Lhs[0]), other, text(n.Rhs[0]), text(n))
		}})
	}
	f.add(n, variants...)
}

// nothing returns zero instead of a number that was computed.
func (f *finder) nothing(n *ast.ReturnStmt) {
	if len(n.Results) != 1 || f.info.Types[n.Results[0]].Value != nil || !f.inBlock() {
		return
	}
	if number, _ := numeric(f.info.TypeOf(n.Results[0])); !number {
		return
	}
	f.add(n, variant{"return 0", func(id int, text func(ast.Node) string) string {
		return fmt.Sprintf("if mutantOn(%d) { return 0 }; %s", id, text(n))
	}})
}

// constant makes a constant larger or smaller where it is used.
func (f *finder) constant(e ast.Expr) {
	v := f.info.Types[e]
	if v.Value == nil || isEnum(v.Type) {
		return
	}
	if parent, ok := f.stack[len(f.stack)-2].(ast.Expr); ok && f.info.Types[parent].Value != nil {
		return // the whole is one constant
	}
	number, fraction := numeric(v.Type)
	name, ok := f.typeName(types.Default(v.Type))
	if !number || !ok {
		return
	}
	scaled := func(what, helper string) variant {
		return variant{f.source(e) + what, func(id int, text func(ast.Node) string) string {
			return fmt.Sprintf("%s[%s](%d, %s)", helper, name, id, text(e))
		}}
	}
	double, more := scaled(" × 2", "mutantTwice"), scaled(" + 1", "mutantNext")
	switch one := constant.MakeInt64(1); {
	case constant.Sign(v.Value) == 0:
		f.add(e, more)
	case constant.Compare(v.Value, token.EQL, one) && !fraction:
		f.add(e, double)
	case fraction:
		f.add(e, double, scaled(" × 3", "mutantThrice"), scaled(" / 2", "mutantHalf"))
	default:
		f.add(e, double, more, scaled(" / 2", "mutantHalf"))
	}
}
