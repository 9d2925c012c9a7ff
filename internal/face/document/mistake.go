package document

import (
	"cmp"
	"context"
	_ "embed" // of the places of fields
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// InputError is what is wrong with a request, for the caller to correct.
type InputError struct {
	// Mistakes are each error of the request, Fields all fields that they name.
	Mistakes []Mistake
	Fields   []string
	// Form says that the JSON is not as the schema of the request says. Otherwise it is, but its values contradict each other, name
	// what is not known, or ask for too much.
	Form bool

	cause error
}

// Mistake is one thing wrong with a request.
type Mistake struct {
	// Fields are named as in JSON: "deployment.pools[0].layout.tp". There are none where
	// the mistake is in a file.
	Fields []string `json:"fields"`
	Detail string   `json:"detail"`
	// Value is the given value, Allowed the allowed words or range, Nearest the closest allowed
	// word; left out if unknown.
	Value   string   `json:"value,omitempty"`
	Allowed []string `json:"allowed,omitempty"`
	Nearest string   `json:"nearest,omitempty"`
}

// Error says what is wrong, a line for each mistake.
func (e *InputError) Error() string {
	lines := make([]string, len(e.Mistakes))
	for i := range e.Mistakes {
		lines[i] = e.Mistakes[i].Detail
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the cause, such as the error of a file that cannot be read.
func (e *InputError) Unwrap() error { return e.cause }

// NewInputError puts an error about the request of an operation into the names of its JSON.
func NewInputError(err error, operation string) *InputError {
	return inputError(err, Mistakes(err, operation))
}

// Under is the error of an operation whose request is a part of another one: the names of fields begin with the part's.
func Under(part string, err error, operation string) error {
	if _, input := errors.AsType[*session.InputError](err); !input {
		return fmt.Errorf("%s: %w", part, err)
	}
	return inputError(err, mistakes(err, operation, part+"."))
}

func inputError(cause error, all []Mistake) *InputError {
	out := &InputError{cause: cause, Mistakes: all}
	for i := range out.Mistakes {
		for _, f := range out.Mistakes[i].Fields {
			if !slices.Contains(out.Fields, f) {
				out.Fields = append(out.Fields, f)
			}
		}
	}
	return out
}

// Wrong is an [*InputError] about fields.
func Wrong(detail string, fields ...string) *InputError {
	return &InputError{Mistakes: []Mistake{{Fields: append([]string{}, fields...), Detail: detail}}, Fields: fields}
}

// corrected is an operation's error: one about its request as an [*InputError], others as they are.
func corrected(err error, operation string) error {
	_, done := errors.AsType[*InputError](err)
	if _, input := errors.AsType[*session.InputError](err); !input || done {
		return err
	}
	return NewInputError(err, operation)
}

// Run runs an operation. A mistake in its request is an [*InputError].
func Run[Request, Response any](ctx context.Context, operation string, r Request, run func(context.Context, Request) (*Response, error)) (*Response, error) {
	if err := ctx.Err(); err != nil { // short work would not look
		return nil, err
	}
	out, err := run(ctx, r)
	if err != nil {
		return nil, corrected(err, operation)
	}
	return out, nil
}

// Mistakes are what is wrong with the request of an operation, one by one.
func Mistakes(err error, operation string) []Mistake { return mistakes(err, operation, "") }

// mistakes are those of a request that is below a path.
func mistakes(err error, operation, under string) []Mistake {
	said := false
	say := func(name field.Name) string {
		said = true
		return under + JSONName(operation, name)
	}
	var out []Mistake
	for _, err := range field.Each(err) {
		said = false
		m := Mistake{Fields: []string{}, Detail: bound.Cut(field.Say(err, say))}
		if under != "" && !said {
			m.Detail = strings.TrimSuffix(under, ".") + ": " + m.Detail
		}
		add := func(place string) {
			if !slices.Contains(m.Fields, place) {
				m.Fields = append(m.Fields, place)
			}
		}
		for _, e := range field.Errors(err) {
			if e.Path != "" {
				add(under + e.Path)
			}
			for _, n := range e.Names {
				add(say(n))
			}
			if m.Value == "" && m.Allowed == nil {
				m.Value, m.Allowed, m.Nearest = bound.Cut(e.Value), e.Allowed, e.Nearest
			}
		}
		out = append(out, m)
	}
	return out
}

// JSONName is the path of a field in the request of an operation.
func JSONName(operation string, name field.Name) string {
	known := places()
	return cmp.Or(known[operation][name], known[""][name], string(name))
}

// FilesOfDeployment is write_files for a deployment that is given, and not a plan's.
const FilesOfDeployment = "write_files of a deployment"

//go:embed places.yaml
var placesFile []byte

// places maps the names of fields in messages to their paths in JSON, where they differ, by operation.
var places = embedded.Once("document: places.yaml", placesFile, embedded.YAML[map[string]map[field.Name]string]) //nolint:gochecknoglobals // read once, never changed
