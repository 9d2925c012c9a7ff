package operation

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
)

// Plan is the plan of a request, for use in [Desk.Answer]: a report and the record share one
// search.
func (d *Desk) Plan(ctx context.Context, k *Kit, o *Operation, request any) (*document.Plan, error) {
	key, err := keyOf(o.Name+" ", request)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	data, ok := d.kept.get(key)
	d.mu.Unlock()
	out := &document.Plan{}
	if ok && json.Unmarshal(data, out) == nil {
		return out, nil
	}
	doc, err := o.Run(ctx, k, request)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := Encode(&b, doc); err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.kept.put(key, b.Bytes())
	d.mu.Unlock()
	return doc.(*document.Plan), nil
}
