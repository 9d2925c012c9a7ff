package operation

import (
	"bytes"
	"context"
	"reflect"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Env is the environment of operations.
type Env struct {
	Session *session.Session
	// Version is that of the program.
	Version string
	// Write puts files into a folder below the one that the user named; nil if none was.
	Write func(folder string, files []launch.File) error
	// Bug logs a bug of the program that a request hits; nil = no log.
	Bug func(*pool.PanicError)
	// Jobs is the maximum number of workers of one search; it does not affect answers; 0 = 8.
	Jobs int
}

// with is the environment with another watcher, whose files are read no longer than ctx lasts.
func (env *Env) with(ctx context.Context, w Watch) *Env {
	out, world := *env, env.Session.Until(ctx)
	world.Progress, world.Partial = w.Progress, w.Partial
	out.Session = world
	return &out
}

// Operation is an operation of the table.
type Operation struct {
	Name        string
	Title       string
	Description string
	// Writes says that files are written. All others change nothing.
	Writes bool
	// Light operations only look things up, and have no jobs.
	Light bool
	// Request and Response are the types of what is asked and answered.
	Request, Response reflect.Type
	// Example is a small request.
	Example string
	// Decode reads a request, strictly: unknown fields at any depth, wrong types, and more work than a
	// server takes are an [*document.InputError].
	Decode func(data []byte) (request any, err error)
	// Run answers a request that Decode read.
	Run func(ctx context.Context, env *Env, request any) (document any, err error)

	work func(env *Env, request any) int // estimates that of a request
}

// define makes an operation from a function, and from the estimate of its work; nil = always little.
func define[Request, Document any](name, title, description string, run func(context.Context, *Env, Request) (*Document, error), work func(*Env, *Request) int) Operation {
	return Operation{
		Name: name, Title: title, Description: description,
		Request: reflect.TypeFor[Request](), Response: reflect.TypeFor[Document](), Example: example(name),
		Decode: func(data []byte) (any, error) {
			var r Request
			err := decode(data, &r, name)
			return r, err
		},
		Run: func(ctx context.Context, env *Env, request any) (any, error) {
			return document.Run(ctx, name, request.(Request), func(ctx context.Context, r Request) (*Document, error) { return run(ctx, env, r) })
		},
		work: func(env *Env, request any) int {
			if work == nil {
				return 0
			}
			r := request.(Request)
			return work(env, &r)
		},
	}
}

// Table lists the operations.
func Table() []Operation {
	return slices.Concat(lists(), plans(), searches(), []Operation{validateOperation(), filesOperation()})
}

// OfPage lists the operations that the page asks for, so that the playground links no others.
func OfPage() []Operation {
	return slices.Concat(lists(), plans(), []Operation{filesOperation()})
}

// Lookup finds an operation of a table.
func Lookup(table []Operation, name string) *Operation {
	i := slices.IndexFunc(table, func(o Operation) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return &table[i]
}

// Rules are those of the JSON of all requests.
func Rules() field.Rules { return field.Rules{Names: MaxNames, Items: MaxItems} }

// decode reads JSON into a request, and refuses requests that are too large for a server.
func decode(data []byte, into any, operation string) error {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}")
	}
	if err := field.DecodeRequest(data, into, Rules()); err != nil {
		out := document.NewInputError(err, operation)
		out.Form = true
		return out
	}
	if err := overLimits(reflect.ValueOf(into).Elem(), ""); err != nil {
		return document.NewInputError(err, operation)
	}
	return nil
}
