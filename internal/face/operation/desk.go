package operation

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// ErrBusy is returned when the queue is full.
var ErrBusy = errors.New("too many requests are waiting; try again in a second")

// Capacity limits the work in progress.
type Capacity struct {
	Searches int // maximum parallel searches; 0 = 2
	Waiting  int // maximum queue length; 0 = 64
	Cache    int // size of the answer cache in bytes; 0 = 32 MiB
}

// Desk answers requests, a limited number in parallel. Equal requests share one answer, and
// recent answers are cached: an answer depends only on its request. It is safe for concurrent
// use.
type Desk struct {
	kit     *Kit
	slots   chan struct{}
	most    int64
	waiting atomic.Int64

	mu      sync.Mutex
	flights map[key]*flight
	kept    *cache
}

// key identifies a request.
type key [sha256.Size]byte

// flight is an answer in progress.
type flight struct {
	done   chan struct{}
	cancel context.CancelFunc
	asking int // number of waiting clients
	data   []byte
	err    error
}

// NewDesk opens a desk.
func NewDesk(k *Kit, c Capacity) *Desk {
	return &Desk{
		kit: k, slots: make(chan struct{}, cmp.Or(c.Searches, 2)), most: int64(cmp.Or(c.Waiting, 64)),
		flights: map[key]*flight{}, kept: newCache(cmp.Or(c.Cache, 32<<20)),
	}
}

// Run answers one request in its turn, and reports progress.
func (d *Desk) Run(ctx context.Context, o *Operation, request any, progress func(session.Progress)) (document any, err error) {
	return d.turn(ctx, o.Light, func(ctx context.Context) (any, error) {
		return o.Run(ctx, d.kit.with(progress), request)
	})
}

// Answer is the encoded answer to a request. Render makes it; nil encodes the operation's
// document. Kind distinguishes the renderings of one request.
func (d *Desk) Answer(ctx context.Context, o *Operation, kind string, data []byte, render func(ctx context.Context, k *Kit, request any) ([]byte, error)) ([]byte, error) {
	request, err := d.Decode(o, data)
	if err != nil {
		return nil, err
	}
	if render == nil {
		render = func(ctx context.Context, k *Kit, request any) ([]byte, error) {
			doc, err := o.Run(ctx, k, request)
			if err != nil {
				return nil, err
			}
			var b bytes.Buffer
			err = Encode(&b, doc)
			return b.Bytes(), err
		}
	}
	k, err := keyOf(o.Name+" "+kind, request)
	if err != nil {
		return nil, err
	}
	return d.share(ctx, k, func(ctx context.Context) ([]byte, error) {
		out, err := d.turn(ctx, o.Light, func(ctx context.Context) (any, error) { return render(ctx, d.kit, request) })
		data, _ := out.([]byte)
		return data, err
	})
}

// keyOf is the same for equal requests, however they are written.
func keyOf(operation string, request any) (key, error) {
	canonical, err := json.Marshal(request)
	if err != nil {
		return key{}, document.Wrong(err.Error())
	}
	return sha256.Sum256(fmt.Appendf(nil, "%s\n%s", operation, canonical)), nil
}

// Decode reads a request.
func (d *Desk) Decode(o *Operation, data []byte) (request any, err error) {
	bug := d.guard(func() { request, err = o.Decode(data) })
	return request, cmp.Or(bug, err)
}

// guard turns a panic into an error and reports it: a bug ends one answer, not the server.
func (d *Desk) guard(do func()) error {
	err := pool.Guard(do)
	d.report(err)
	return err
}

// report logs a bug.
func (d *Desk) report(err error) {
	bug, ok := errors.AsType[*pool.PanicError](err)
	if !ok || d.kit.Bug == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kit.Bug(bug)
}

// turn runs work in its turn.
func (d *Desk) turn(ctx context.Context, light bool, do func(context.Context) (any, error)) (out any, err error) {
	if !light {
		if err := d.enter(ctx); err != nil {
			return nil, err
		}
		defer func() { <-d.slots }()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if bug := d.guard(func() { out, err = do(ctx) }); bug != nil {
		return nil, bug
	}
	d.report(err) // a panic in a worker
	return out, err
}

// enter waits for a slot.
func (d *Desk) enter(ctx context.Context) error {
	select {
	case d.slots <- struct{}{}:
		return nil
	default:
	}
	if d.waiting.Add(1) > d.most {
		d.waiting.Add(-1)
		return ErrBusy
	}
	defer d.waiting.Add(-1)
	select {
	case d.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// share gives all clients with the same request one answer. The work is cancelled when no
// client waits for it any more.
func (d *Desk) share(ctx context.Context, k key, do func(context.Context) ([]byte, error)) ([]byte, error) {
	d.mu.Lock()
	if data, ok := d.kept.get(k); ok {
		d.mu.Unlock()
		return data, nil
	}
	f := d.flights[k]
	if f == nil {
		working, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f = &flight{done: make(chan struct{}), cancel: cancel}
		d.flights[k] = f
		go d.fly(working, k, f, do)
	}
	f.asking++
	d.mu.Unlock()
	select {
	case <-f.done:
		return f.data, f.err
	case <-ctx.Done():
		d.leave(k, f)
		return nil, ctx.Err()
	}
}

// fly runs the work of a flight.
func (d *Desk) fly(ctx context.Context, k key, f *flight, do func(context.Context) ([]byte, error)) {
	f.data, f.err = do(ctx)
	d.mu.Lock()
	if d.flights[k] == f {
		delete(d.flights, k)
	}
	if f.err == nil {
		d.kept.put(k, f.data)
	}
	d.mu.Unlock()
	f.cancel()
	close(f.done)
}

// leave stops waiting for a flight.
func (d *Desk) leave(k key, f *flight) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f.asking--
	if f.asking > 0 {
		return
	}
	f.cancel()
	if d.flights[k] == f { // the next request starts again
		delete(d.flights, k)
	}
}
