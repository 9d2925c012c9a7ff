package job

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// ErrFull is returned when as many jobs are under way as may be.
var ErrFull = errors.New("too many jobs are running; try again later")

// Limits bound the jobs; 0 is the usual value.
type Limits struct {
	// Most is how many jobs are kept (64), Running how many run in parallel (1): short questions need cores too.
	Most, Running int
	// Longest is how long a job may run (30 minutes), Idle how long it runs on if nobody asks for it (5 minutes), and Keep how
	// long its answer is kept (1 hour).
	Longest, Idle, Keep time.Duration
	// Bytes is the memory for answers (64 MiB). The oldest go first.
	Bytes int
}

// State is what a job does.
type State string

// The states. A job that was cancelled or stopped may have a partial answer.
const (
	Waiting   State = "waiting"
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled" // by its clients
	Stopped   State = "stopped"   // by a limit, or with the server
)

// Status is the state of a job for programs.
type Status struct {
	ID        string `json:"id"`
	Operation string `json:"operation"`
	State     State  `json:"state"`
	// Progress is null until it is known.
	Progress *session.Progress `json:"progress"`
	// Partial says that part of the answer is available, Left names the searches that it lacks.
	Partial bool     `json:"partial"`
	Left    []string `json:"left"`
	// Seconds is how long it has taken.
	Seconds float64 `json:"seconds"`
	// Detail is why it has no answer.
	Detail string `json:"detail,omitempty"`
}

// Ended says that the state is the last one.
func (s *Status) Ended() bool { return s.State != Waiting && s.State != Running }

// The reasons for which work ends early.
var (
	errLeft    = errors.New("cancelled")
	errLong    = errors.New("stopped at the time limit of jobs")
	errIdle    = errors.New("stopped because no client was left")
	errClosing = errors.New("stopped by a server shutdown; ask again")
)

// Jobs are the jobs of a server. It is safe for concurrent use.
type Jobs struct {
	runner *operation.Runner
	limits Limits
	slots  chan struct{}
	base   context.Context //nolint:containedctx // the life of the server, which jobs share
	stop   context.CancelCauseFunc
	live   sync.WaitGroup

	mu   sync.Mutex
	byID map[string]*Job
}

// Job is a question with its state.
type Job struct {
	id     string
	kind   string
	start  time.Time
	cancel context.CancelCauseFunc

	mu      sync.Mutex // guards what follows
	users   map[string]bool
	asked   time.Time // for the last time
	ended   time.Time
	state   State
	latest  *session.Progress
	look    func() (response any, left []string)
	left    []string
	partial []byte // encoded, of a job that ended without an answer
	data    []byte
	err     error
	changed chan struct{} // closed at the next change
}

// New makes the jobs of a runner. They end with [Jobs.Close].
func New(runner *operation.Runner, l Limits) *Jobs {
	l.Most, l.Running, l.Bytes = cmp.Or(l.Most, 64), cmp.Or(l.Running, 1), cmp.Or(l.Bytes, 64<<20)
	l.Longest, l.Idle, l.Keep = cmp.Or(l.Longest, 30*time.Minute), cmp.Or(l.Idle, 5*time.Minute), cmp.Or(l.Keep, time.Hour)
	base, stop := context.WithCancelCause(context.Background())
	return &Jobs{runner: runner, limits: l, slots: make(chan struct{}, l.Running), base: base, stop: stop, byID: map[string]*Job{}}
}

// Close stops all jobs and waits for them.
func (j *Jobs) Close() {
	j.stop(errClosing)
	j.live.Wait()
}

// Start makes a job of a question, or joins the one there is. One that ended without an answer starts again. The user is kept as
// one of those who want it.
func (j *Jobs) Start(q *operation.Question, user string) (*Job, error) { return j.start(q, user, nil) }

// Adopt makes a job of a question that is being answered: the work goes on when its client leaves. The call must be the job's own.
func (j *Jobs) Adopt(q *operation.Question, user string) (*Job, error) {
	return j.start(q, user, func(w operation.Watch) *operation.Call { return j.runner.Join(j.base, q, w) })
}

func (j *Jobs) start(q *operation.Question, user string, join func(operation.Watch) *operation.Call) (*Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sweep()
	if old := j.byID[q.ID()]; old != nil && old.join(user) {
		return old, nil
	}
	delete(j.byID, q.ID())
	if len(j.byID) >= j.limits.Most && !j.drop() {
		return nil, ErrFull
	}
	if err := context.Cause(j.base); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(j.base)
	now := time.Now()
	x := &Job{
		id: q.ID(), kind: q.Operation(), start: now, asked: now, cancel: cancel, users: map[string]bool{user: true},
		state: Waiting, left: []string{}, changed: make(chan struct{}),
	}
	j.byID[x.id] = x
	var call *operation.Call
	if join != nil { // before the caller leaves
		call = join(x.watch())
	}
	j.live.Go(func() { j.run(ctx, q, x, call) })
	return x, nil
}

// Get finds a job; nil if there is none.
func (j *Jobs) Get(id string) *Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sweep()
	x := j.byID[id]
	if x != nil {
		x.Touch()
	}
	return x
}

// Delete takes a user from a job, and forgets the job if no user is left.
func (j *Jobs) Delete(x *Job, user string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if x.Leave(user) && j.byID[x.id] == x {
		delete(j.byID, x.id)
	}
}

// Count is the number of jobs in each state.
func (j *Jobs) Count() map[State]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sweep()
	out := map[State]int{Waiting: 0, Running: 0, Done: 0, Failed: 0, Cancelled: 0, Stopped: 0}
	for _, x := range j.byID {
		x.mu.Lock()
		out[x.state]++
		x.mu.Unlock()
	}
	return out
}

// endedFirst are the jobs that ended, the oldest first.
func (j *Jobs) endedFirst() []*Job {
	var out []*Job
	for _, x := range j.byID {
		if x.over() {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b *Job) int { return cmp.Or(a.ended.Compare(b.ended), cmp.Compare(a.id, b.id)) })
	return out
}

// drop forgets the oldest job that ended.
func (j *Jobs) drop() bool {
	old := j.endedFirst()
	if len(old) == 0 {
		return false
	}
	delete(j.byID, old[0].id)
	return true
}

// sweep forgets jobs that ended long ago, and as many more as their answers are too large.
func (j *Jobs) sweep() {
	old := j.endedFirst()
	held := 0
	for _, x := range old {
		held += len(x.data) + len(x.partial)
	}
	for _, x := range old {
		if time.Since(x.ended) < j.limits.Keep && held <= j.limits.Bytes {
			return
		}
		held -= len(x.data) + len(x.partial)
		delete(j.byID, x.id)
	}
}

// run does the work of a job in its turn.
func (j *Jobs) run(ctx context.Context, q *operation.Question, x *Job, call *operation.Call) {
	defer x.cancel(nil)
	if call == nil && !q.Brief() { // else it is running already, or waits for no other
		select {
		case j.slots <- struct{}{}:
			defer func() { <-j.slots }()
		case <-ctx.Done():
			x.end(nil, context.Cause(ctx))
			return
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, j.limits.Longest, errLong)
	defer cancel()
	watched, idle := context.WithCancelCause(ctx)
	defer idle(nil)
	go x.abandon(watched, j.limits.Idle, idle)
	x.change(func() { x.state = Running })
	for {
		if call == nil {
			call = j.runner.Join(watched, q, x.watch())
		}
		data, err := call.Wait(watched)
		if errors.Is(err, operation.ErrBusy) { // of its own accord it comes back
			call = nil
			select {
			case <-time.After(time.Second):
				continue
			case <-watched.Done():
			}
		}
		if watched.Err() != nil && data == nil {
			err = context.Cause(watched)
		}
		x.end(data, err)
		return
	}
}

// abandon ends a job that nobody asks for.
func (x *Job) abandon(ctx context.Context, after time.Duration, stop context.CancelCauseFunc) {
	tick := time.NewTicker(after / 8)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			x.mu.Lock()
			late := time.Since(x.asked) > after
			x.mu.Unlock()
			if late {
				stop(errIdle)
				return
			}
		}
	}
}

// watch keeps what is heard of the work.
func (x *Job) watch() operation.Watch {
	return operation.Watch{
		Progress: func(p session.Progress) { x.change(func() { x.latest = &p }) },
		Partial:  func(look func() (any, []string)) { x.change(func() { x.look = look }) },
	}
}

// change changes a job and wakes those who wait for it.
func (x *Job) change(do func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	do()
	close(x.changed)
	x.changed = make(chan struct{})
}

// end keeps the answer, or what is known of it.
func (x *Job) end(data []byte, err error) {
	partial, left := []byte(nil), []string{}
	if err != nil {
		partial, left = x.encoded()
	}
	x.change(func() {
		x.data, x.err, x.partial, x.left, x.look, x.ended = data, err, partial, append([]string{}, left...), nil, time.Now()
		switch {
		case err == nil:
			x.state = Done
		case errors.Is(err, errLeft):
			x.state = Cancelled
		case errors.Is(err, errLong), errors.Is(err, errIdle), errors.Is(err, errClosing):
			x.state = Stopped
		default:
			x.state = Failed
		}
	})
}

// encoded is the answer so far; nil if there is none.
func (x *Job) encoded() (data []byte, left []string) {
	x.mu.Lock()
	look := x.look
	x.mu.Unlock()
	if look == nil {
		return nil, nil
	}
	out, left := look()
	if out == nil {
		return nil, left
	}
	var b bytes.Buffer
	if document.Encode(&b, out) != nil {
		return nil, left
	}
	return b.Bytes(), left
}

func (x *Job) over() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.ended.IsZero()
}

// Touch says that somebody still wants the job.
func (x *Job) Touch() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked = time.Now()
}

// join adds a user; not to a job that ended without an answer.
func (x *Job) join(user string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state != Done && !x.ended.IsZero() || x.state != Done && len(x.users) == 0 {
		return false
	}
	x.users[user], x.asked = true, time.Now()
	return true
}

// Leave takes a user from a job. The work stops when no user is left, which it reports.
func (x *Job) Leave(user string) (last bool) {
	x.mu.Lock()
	delete(x.users, user)
	last = len(x.users) == 0
	x.mu.Unlock()
	if last {
		x.cancel(errLeft)
	}
	return last
}

// ID is that of the job.
func (x *Job) ID() string { return x.id }

// Status is the state, and a channel that is closed when it changes.
func (x *Job) Status() (Status, <-chan struct{}) {
	x.mu.Lock()
	look := x.look
	x.mu.Unlock()
	known, left := false, []string(nil)
	if look != nil {
		var out any
		out, left = look()
		known = out != nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked = time.Now()
	s := Status{ID: x.id, Operation: x.kind, State: x.state, Progress: x.latest, Partial: known, Left: append([]string{}, left...)}
	until := time.Now()
	if !x.ended.IsZero() {
		s.Partial, s.Left, until = x.partial != nil, x.left, x.ended
	}
	s.Seconds = until.Sub(x.start).Seconds()
	switch {
	case pool.Bug(x.err) != nil:
		s.Detail = "internal error: this is a bug in plimsoll"
	case x.err != nil:
		s.Detail = x.err.Error()
	}
	return s, x.changed
}

// Result is the answer; with ok false there is none yet. The error is that of the work.
func (x *Job) Result() (data []byte, ok bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked = time.Now()
	return x.data, !x.ended.IsZero(), x.err
}

// Partial is the answer as far as it is known, the whole one of a job that is done; nil if nothing is.
func (x *Job) Partial() []byte {
	x.mu.Lock()
	data := x.data
	if data == nil {
		data = x.partial
	}
	over := !x.ended.IsZero()
	x.asked = time.Now()
	x.mu.Unlock()
	if data == nil && !over {
		data, _ = x.encoded()
	}
	return data
}
