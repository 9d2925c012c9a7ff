package operation

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// ErrBusy is returned when the queue is full.
var ErrBusy = errors.New("too many requests are waiting; try again in a second")

// Capacity limits the work in progress.
type Capacity struct {
	Searches int // maximum parallel searches; 0 = 2
	Cores    int // maximum number of goroutines that compute for searches; 0 = no limit
	Brief    int // maximum parallel brief requests, which wait for no search; 0 = 8
	Waiting  int // maximum length of either queue; 0 = 64
	Cache    int // size of the answer cache in bytes; 0 = 32 MiB
}

// Runner answers requests, a limited number in parallel. Equal requests share one answer, and
// recent answers are cached: an answer depends only on its request. It is safe for concurrent
// use.
type Runner struct {
	env   *Env
	brief *lane // of requests with little work, see work.go
	long  *lane
	share *pool.Share // of searches; nil = as many goroutines as they like

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
	data   []byte
	err    error

	asking int // number of waiting clients; the runner's lock guards it

	mu      sync.Mutex // guards what follows, and makes the calls of watchers one at a time
	watches []Watch
	latest  *session.Progress
	look    func() (response any, left []string)
}

// Watch is how a client follows work: its progress, and once, early, a function that looks at the answer so far, as in
// [session.Session]. Either may be nil. Calls come one at a time and must not wait.
type Watch struct {
	Progress func(session.Progress)
	Partial  func(look func() (response any, left []string))
}

// add gives a watcher what is known and what comes.
func (f *flight) add(w Watch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watches = append(f.watches, w)
	if f.latest != nil && w.Progress != nil {
		w.Progress(*f.latest)
	}
	if f.look != nil && w.Partial != nil {
		w.Partial(f.look)
	}
}

// all is a watch that informs every watcher.
func (f *flight) all() Watch {
	return Watch{
		Progress: func(p session.Progress) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.latest = &p
			for _, w := range f.watches {
				if w.Progress != nil {
					w.Progress(p)
				}
			}
		},
		Partial: func(look func() (any, []string)) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.look = look
			for _, w := range f.watches {
				if w.Partial != nil {
					w.Partial(look)
				}
			}
		},
	}
}

// NewRunner opens a runner.
func NewRunner(env *Env, c Capacity) *Runner {
	r := &Runner{
		env: env, long: newLane(cmp.Or(c.Searches, 2), cmp.Or(c.Waiting, 64)), brief: newLane(cmp.Or(c.Brief, 8), cmp.Or(c.Waiting, 64)),
		flights: map[key]*flight{}, kept: newCache(cmp.Or(c.Cache, 32<<20)),
	}
	if c.Cores > 0 {
		r.share = pool.NewShare(c.Cores)
	}
	return r
}

// Run answers one request in its turn, and reports progress.
func (r *Runner) Run(ctx context.Context, o *Operation, request any, progress func(session.Progress)) (document any, err error) {
	lane, err := r.laneOf(o, request)
	if err != nil {
		return nil, err
	}
	return r.turn(ctx, lane, func(ctx context.Context) (any, error) {
		return o.Run(ctx, r.env.with(ctx, Watch{Progress: progress}), request)
	})
}

// Question is a request that was read, and how its answer is made.
type Question struct {
	key    key
	o      *Operation
	brief  bool
	render func(ctx context.Context, env *Env) ([]byte, error)
}

// ID is the same for equal questions to any server of the same version.
func (q *Question) ID() string { return hex.EncodeToString(q.key[:]) }

// Operation is the name of what is asked.
func (q *Question) Operation() string { return q.o.Name }

// Brief says that the answer is little work: it waits for no search.
func (q *Question) Brief() bool { return q.brief }

// Ask reads a request. Render makes the answer; nil encodes the operation's document. Kind distinguishes the renderings of one
// request.
func (r *Runner) Ask(o *Operation, kind string, data []byte, render func(ctx context.Context, env *Env, request any) ([]byte, error)) (*Question, error) {
	request, err := r.Decode(o, data)
	if err != nil {
		return nil, err
	}
	if render == nil {
		render = func(ctx context.Context, env *Env, request any) ([]byte, error) {
			doc, err := o.Run(ctx, env, request)
			if err != nil {
				return nil, err
			}
			var b bytes.Buffer
			err = document.Encode(&b, doc)
			return b.Bytes(), err
		}
	}
	k, err := keyOf(r.env.Version+" "+o.Name+" "+kind, request)
	if err != nil {
		return nil, err
	}
	lane, err := r.laneOf(o, request)
	if err != nil {
		return nil, err
	}
	return &Question{k, o, lane == r.brief, func(ctx context.Context, env *Env) ([]byte, error) { return render(ctx, env, request) }}, nil
}

// keyOf is the same for equal requests, however they are written.
func keyOf(operation string, request any) (key, error) {
	canonical, err := json.Marshal(request)
	if err != nil {
		return key{}, document.Wrong(err.Error())
	}
	return sha256.Sum256(fmt.Appendf(nil, "%s\n%s", operation, canonical)), nil
}

// Load is the load by searches and by brief requests.
func (r *Runner) Load() (searches, brief Load) { return r.long.load(), r.brief.load() }

// laneOf is where a request waits for its turn.
func (r *Runner) laneOf(o *Operation, request any) (*lane, error) {
	work := 0
	err := r.guard(func() { work = o.work(r.env, request) })
	if work > maxBrief {
		return r.long, err
	}
	return r.brief, err
}

// Decode reads a request.
func (r *Runner) Decode(o *Operation, data []byte) (request any, err error) {
	bug := r.guard(func() { request, err = o.Decode(data) })
	return request, cmp.Or(bug, err)
}

// guard turns a panic into an error and reports it: a bug ends one answer, not the server.
func (r *Runner) guard(do func()) error {
	err := pool.Guard(do)
	r.report(err)
	return err
}

// report logs a bug.
func (r *Runner) report(err error) {
	bug, ok := errors.AsType[*pool.PanicError](err)
	if !ok || r.env.Bug == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.env.Bug(bug)
}

// turn runs work in its turn.
func (r *Runner) turn(ctx context.Context, l *lane, do func(context.Context) (any, error)) (out any, err error) {
	leave, err := l.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	work := func(ctx context.Context) { out, err = do(ctx) }
	bug := r.guard(func() {
		if l == r.long && r.share != nil {
			r.share.Do(ctx, work)
		} else {
			work(ctx)
		}
	})
	if bug != nil {
		return nil, bug
	}
	r.report(err) // a panic in a worker
	return out, err
}

// Call is a client that waits for an answer.
type Call struct {
	runner *Runner
	key    key
	f      *flight
}

// Join makes a client wait for the answer to a question, of which all clients with the same question have one. The work is
// cancelled when no client waits for it any more, so every call must be waited for.
func (r *Runner) Join(ctx context.Context, q *Question, w Watch) *Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	if data, ok := r.kept.get(q.key); ok {
		f := &flight{done: make(chan struct{}), data: data, cancel: func() {}}
		close(f.done)
		return &Call{r, q.key, f}
	}
	f := r.flights[q.key]
	if f == nil {
		working, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f = &flight{done: make(chan struct{}), cancel: cancel}
		r.flights[q.key] = f
		go r.fly(working, q, f)
	}
	f.asking++
	f.add(w)
	return &Call{r, q.key, f}
}

// Wait is the answer, or the error of ctx if that ends first.
func (c *Call) Wait(ctx context.Context) ([]byte, error) {
	select {
	case <-c.f.done:
		return c.f.data, c.f.err
	case <-ctx.Done():
		c.runner.leave(c.key, c.f)
		return nil, ctx.Err()
	}
}

// fly runs the work of a flight.
func (r *Runner) fly(ctx context.Context, q *Question, f *flight) {
	lane := r.long
	if q.brief {
		lane = r.brief
	}
	out, err := r.turn(ctx, lane, func(ctx context.Context) (any, error) { return q.render(ctx, r.env.with(ctx, f.all())) })
	f.data, _ = out.([]byte)
	f.err = err
	r.mu.Lock()
	if r.flights[q.key] == f {
		delete(r.flights, q.key)
	}
	if f.err == nil {
		r.kept.put(q.key, f.data)
	}
	r.mu.Unlock()
	f.cancel()
	close(f.done)
}

// leave stops waiting for a flight.
func (r *Runner) leave(k key, f *flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.asking--
	if f.asking > 0 {
		return
	}
	f.cancel()
	if r.flights[k] == f { // the next request starts again
		delete(r.flights, k)
	}
}
