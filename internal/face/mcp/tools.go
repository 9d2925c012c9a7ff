package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// addTool offers an operation.
func (s *Server) addTool(o *operation.Operation, schemas *operation.Schemas) {
	s.server.AddTool(&sdk.Tool{
		Name: o.Name, Title: o.Title, Description: strings.ReplaceAll(o.Description, "\n", " "),
		InputSchema: schemas.Request(o), OutputSchema: schemas.Response(o),
		Annotations: &sdk.ToolAnnotations{
			Title: o.Title, ReadOnlyHint: !o.Writes, IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(false),
		},
	}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return s.call(ctx, o, r)
	})
}

// call answers a call. Mistakes in the request are a result that lists them, so that the
// client can correct them.
func (s *Server) call(ctx context.Context, o *operation.Operation, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	request, err := s.desk.Decode(o, r.Params.Arguments)
	var doc any
	if err == nil {
		report, flush := progress(ctx, r)
		doc, err = s.desk.Run(ctx, o, request, report)
		flush()
	}
	if err != nil {
		return failed(ctx, err)
	}
	var b bytes.Buffer
	if err := operation.Encode(&b, doc); err != nil {
		return nil, err
	}
	out := &sdk.CallToolResult{StructuredContent: json.RawMessage(b.Bytes())}
	p, ok := doc.(*plan.Response)
	if !ok {
		out.Content = []sdk.Content{&sdk.TextContent{Text: b.String()}}
		return out, nil
	}
	link := s.record(p, b.Bytes())
	out.Content = []sdk.Content{&sdk.TextContent{Text: summary(p, link.URI)}, link}
	return out, nil
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
		last := 0
		for p := range news {
			if p.Done <= last { // the protocol wants it to grow
				continue
			}
			last = p.Done
			_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ // a client that is gone needs none
				ProgressToken: token, Progress: float64(p.Done), Total: float64(p.Of), Message: p.String(),
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

// summary is a plan in words, for clients that do not read structured content.
func summary(p *plan.Response, uri string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\nCommand: %s\n\nContenders, by %s:\n", p.Answer.Sentence, p.Answer.Reason, p.Command, p.RankedBy)
	for i := range p.Contenders {
		c := &p.Contenders[i]
		within := ""
		if c.Chance != nil {
			within = fmt.Sprintf(", probability of meeting the limits %.2f", *c.Chance)
		}
		fmt.Fprintf(&b, "- %s: %s, %.0f tokens/s (80 %%: %.0f to %.0f), TTFT %.0f ms, TPOT %.1f ms%s\n",
			c.Name, c.Deployment, c.Tokens.Value, c.Tokens.Low, c.Tokens.High, c.TTFT.Value, c.TPOT.Zero().Value, within)
	}
	for _, n := range p.NotRun {
		fmt.Fprintf(&b, "- %s %s %s cannot be run: %s\n", n.System, n.Engine, n.Mode, n.Reason)
	}
	if len(p.Changes) > 0 {
		b.WriteString("\nWhat would change the answer:\n")
	}
	for _, c := range p.Changes {
		switch {
		case c.Ratio != nil:
			fmt.Fprintf(&b, "- %s: ×%.2f\n", c.What, *c.Ratio)
		case c.Failure != "":
			fmt.Fprintf(&b, "- %s: %s\n", c.What, c.Failure)
		}
	}
	fmt.Fprintf(&b, "\nThe full record is in the structured content and in the resource %s.\n\n%s\n", uri, p.Caution)
	return b.String()
}
