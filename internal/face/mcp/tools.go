package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/face/schema"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// addTool offers an operation. Its schema is brief and that of its document is left out: the tool "schema" has both.
func (s *Server) addTool(o *operation.Operation) {
	input := s.schemas.Brief(s.table, o)
	if slices.Contains(briefed(), o.Name) {
		schema.WithChoice(input, detailField, detailBrief, detailFull)
	}
	s.server.AddTool(&sdk.Tool{
		Name: o.Name, Title: o.Title, Description: strings.ReplaceAll(o.Description, "\n", " "), InputSchema: input,
		// That it neither destroys nor reaches out is worth saying only of a tool that writes.
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: !o.Writes, DestructiveHint: writing(o), OpenWorldHint: new(false)},
	}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return s.call(ctx, o, r)
	})
}

// writing is that a tool which writes destroys nothing; nil for others, of which nobody would expect it.
func writing(o *operation.Operation) *bool {
	if o.Writes {
		return new(false)
	}
	return nil
}

// schemaRequest asks for the schemas of a tool.
type schemaRequest struct {
	Tool string `json:"tool"`
	Part string `json:"part"`
}

// addSchema offers the whole schemas of tools, which would cost every conversation much more than the few that need them.
func (s *Server) addSchema() {
	var names []any
	for i := range s.table {
		names = append(names, s.table[i].Name)
	}
	const arguments, answer = "arguments", "answer"
	input := schema.Object("tool")
	schema.WithChoice[string](input, "tool")
	schema.WithChoice(input, "part", arguments, answer)
	s.server.AddTool(&sdk.Tool{
		Name: "schema", Description: "The whole JSON schema of a tool's arguments, with every nested field and its description, or of its full answer.",
		InputSchema: input,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(false)},
	}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var q schemaRequest
		if err := field.Decode(r.Params.Arguments, &q); err != nil {
			return failed(ctx, document.NewInputError(err, "schema"))
		}
		o := operation.Lookup(s.table, q.Tool)
		switch {
		case o == nil:
			return failed(ctx, document.Wrong(fmt.Sprintf("tool must be one of %s, got %q", strings.Trim(fmt.Sprint(names), "[]"), q.Tool), "tool"))
		case q.Part == answer:
			return answered(s.schemas.Response(o))
		case q.Part == "" || q.Part == arguments:
			return answered(s.schemas.Request(o))
		}
		return failed(ctx, document.Wrong(fmt.Sprintf("part must be %s or %s, got %q", arguments, answer, q.Part), "part"))
	})
}

// answered is a result: compact JSON, once for programs and once for clients that read only text.
func answered(doc any) (*sdk.CallToolResult, error) {
	data, err := document.Compact(doc)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{StructuredContent: json.RawMessage(data), Content: []sdk.Content{&sdk.TextContent{Text: string(data)}}}, nil
}

// call answers a call. Mistakes in the request are a result that lists them, so that the
// client can correct them.
func (s *Server) call(ctx context.Context, o *operation.Operation, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	want, arguments := detailFull, r.Params.Arguments
	var err error
	if slices.Contains(briefed(), o.Name) {
		want, arguments, err = detailed(arguments)
	}
	var request, doc any
	if err == nil {
		request, err = s.runner.Decode(o, arguments)
	}
	if list, ok := request.(operation.ListRequest); ok && list.Limit == 0 && want == detailBrief {
		list.Limit = shownEntries
		request = list
	}
	if err == nil {
		report, flush := progress(ctx, r)
		doc, err = s.runner.Run(ctx, o, request, report)
		flush()
	}
	if err != nil {
		return failed(ctx, err)
	}
	p, isPlan := doc.(*plan.Response)
	if !isPlan {
		if want == detailBrief {
			doc = brief(doc, "")
		}
		return answered(doc)
	}
	var record bytes.Buffer
	if err := document.Encode(&record, p); err != nil {
		return nil, err
	}
	link := s.record(p, record.Bytes())
	if want == detailBrief {
		doc = brief(p, link.URI)
	}
	out, err := answered(doc)
	if err == nil {
		out.Content = []sdk.Content{&sdk.TextContent{Text: summary(p, link.URI)}, link}
	}
	return out, err
}

// failed is a call that has no answer.
func failed(ctx context.Context, err error) (*sdk.CallToolResult, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	out := &sdk.CallToolResult{IsError: true}
	wrong, ok := errors.AsType[*document.InputError](err)
	switch {
	case ok:
		out.Content = []sdk.Content{&sdk.TextContent{Text: "invalid parameters: " + wrong.Error()}}
	case pool.Bug(err) != nil:
		out.Content = []sdk.Content{&sdk.TextContent{Text: "internal error: this is a bug in plimsoll"}}
	default:
		out.Content = []sdk.Content{&sdk.TextContent{Text: err.Error()}}
	}
	return out, nil
}

// progress reports the progress of a call to a client that requested it; flush waits until
// all reports are sent. A slow client misses some: no search waits for it.
func progress(ctx context.Context, r *sdk.CallToolRequest) (report func(session.Progress), flush func()) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return nil, func() {}
	}
	const some = 16
	news, done := make(chan session.Progress, some), make(chan struct{})
	go func() {
		defer close(done)
		var steps counter
		for p := range news {
			at, of := steps.add(p)
			_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ // a client that is gone needs none
				ProgressToken: token, Progress: at, Total: of, Message: p.String(),
			})
		}
	}()
	report = func(p session.Progress) {
		select {
		case news <- p:
		default:
		}
	}
	return report, func() { close(news); <-done }
}

// counter makes one count of the tasks of a call, which follow one another: the protocol wants progress that only grows.
type counter struct {
	base, last float64 // of the tasks before, and the last count
	task       string
	of         int
}

// add counts a report: the steps done, and of how many as far as is known.
func (c *counter) add(p session.Progress) (at, of float64) {
	if p.Task != c.task {
		c.base += float64(c.of)
		c.task = p.Task
	}
	c.of = p.Of
	const little = 1e-3 // reports of one step
	c.last = max(c.base+float64(p.Done), c.last+little)
	return c.last, max(c.base+float64(p.Of), c.last)
}

// summary is a plan in words, for clients that do not read structured content.
func summary(p *plan.Response, uri string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\nCommand: %s\n\nContenders, by %s:\n", p.Answer.Sentence, p.Answer.Reason, p.Command, p.RankedBy)
	for i := range p.Contenders[:min(len(p.Contenders), 1+shownOthers)] {
		c := &p.Contenders[i]
		within := ""
		if c.Judged.Chance != nil {
			within = fmt.Sprintf(", probability of meeting the limits %.2f", *c.Judged.Chance)
		}
		fmt.Fprintf(&b, "- %s: %s, %.0f tokens/s (80 %%: %.0f to %.0f), %s TTFT %.0f ms, TPOT %.1f ms%s\n",
			c.Name, c.Deployment, c.Tokens.Value, c.Tokens.Low, c.Tokens.High, c.Judged.Statistic, c.Judged.TTFT.Zero().Value, c.Judged.TPOT.Zero().Value, within)
	}
	if n := len(p.Contenders) - 1 - shownOthers; n > 0 {
		fmt.Fprintf(&b, "- and %d more\n", n)
	}
	for _, n := range p.NotRun[:min(len(p.NotRun), shownNotes)] {
		fmt.Fprintf(&b, "- %s %s %s cannot be run: %s\n", n.System, n.Engine, n.Mode, n.Reason)
	}
	if len(p.Changes) > 0 {
		b.WriteString("\nWhat would change the answer:\n")
	}
	for i := range p.Changes[:min(len(p.Changes), shownChanges)] {
		c := &p.Changes[i]
		switch {
		case c.Ratio != nil:
			fmt.Fprintf(&b, "- %s: ×%.2f\n", c.What, *c.Ratio)
		case c.Failure != "":
			fmt.Fprintf(&b, "- %s: %s\n", c.What, c.Failure)
		}
	}
	fmt.Fprintf(&b, "\nThe full record is the resource %s; \"detail\": \"full\" gives it too.\n\n%s\n", uri, p.Caution)
	return b.String()
}
