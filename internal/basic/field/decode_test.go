package field_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
)

// request has every way in which types nest.
type request struct {
	Model  string             `json:"model"`
	Pools  []pool             `json:"pools,omitempty"`
	Prices map[string]float64 `json:"prices,omitempty"`
	Limits limits             `json:"limits,omitzero"`
	embedded

	Hidden int `json:"-"`
}

type embedded struct {
	Seed *uint64 `json:"seed,omitempty"`
}

type pool struct {
	Layout *layout `json:"layout"`
}

type layout struct {
	TP int  `json:"tp"`
	On bool `json:"on"`
}

// limits has a JSON form of its own.
type limits struct{ ms float64 }

func (limits) JSONForm() any {
	return struct {
		TPOT float64 `json:"tpot_ms"`
		TTFT float64 `json:"ttft_ms"`
	}{}
}

func (l *limits) UnmarshalJSON(data []byte) error {
	var in struct {
		TPOT float64 `json:"tpot_ms"`
	}
	err := json.Unmarshal(data, &in)
	l.ms = in.TPOT
	return err
}

func TestDecode(t *testing.T) {
	t.Parallel()
	var r request
	text := `{"model":"m","pools":[{"layout":{"tp":4,"on":true}},{"layout":null}],"prices":{"a":2.5},"limits":{"tpot_ms":50},"seed":7}`
	if err := field.Decode([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if r.Pools[0].Layout.TP != 4 || r.Pools[1].Layout != nil || r.Prices["a"] != 2.5 || r.Limits.ms != 50 || *r.Seed != 7 {
		t.Errorf("read %+v", r)
	}
}

func TestDecodeMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text    string
		path    string
		message string
		nearest string
	}{
		{`{"modell":"x"}`, "modell", `unknown field modell with value "x"; nearest: model; allowed: model, pools, prices, limits, seed`, "model"},
		{`{"Model":"x"}`, "Model", `unknown field Model with value "x"; nearest: model; allowed: model, pools, prices, limits, seed`, "model"},
		{`{"Hidden":1}`, "Hidden", `unknown field Hidden with value 1; allowed: model, pools, prices, limits, seed`, ""},
		{`{"limits":{"tpot":50}}`, "limits.tpot", `unknown field limits.tpot with value 50; nearest: tpot_ms; allowed: tpot_ms, ttft_ms`, "tpot_ms"},
		{
			`{"pools":[{},{"layout":{"tpp":[1, 2]}}]}`, "pools[1].layout.tpp",
			`unknown field pools[1].layout.tpp with value [1,2]; nearest: tp; allowed: tp, on`, "tp",
		},
		{`{"pools":[{"layout":{"tp":"4"}}]}`, "pools[0].layout.tp", "pools[0].layout.tp must be a whole number, got a string", ""},
		{`{"pools":[{"layout":{"tp":1.5}}]}`, "pools[0].layout.tp", "pools[0].layout.tp must be a whole number, got 1.5", ""},
		{`{"pools":{}}`, "pools", "pools must be a list, got an object", ""},
		{`{"pools":[[]]}`, "pools[0]", "pools[0] must be an object, got a list", ""},
		{`{"prices":{"a":"b"}}`, "prices.a", "prices.a must be a number, got a string", ""},
		{`{"limits":{"ttft_ms":true}}`, "limits.ttft_ms", "limits.ttft_ms must be a number, got true or false", ""},
		{`{"seed":-1}`, "seed", "seed must be a whole number, got -1", ""},
		{`{"seed":1,"seed":2}`, "seed", "field seed is given twice", ""},
		{`[]`, "", "the JSON value must be an object, got a list", ""},
		{`{`, "", "not JSON: it ends too early", ""},
		{``, "", "not JSON: it ends too early", ""},
		{`{} {}`, "", "unexpected data after the JSON value", ""},
		{`{'a'}`, "", "not JSON: invalid character '\\'' looking for beginning of object key string at byte 2", ""},
	} {
		var r request
		err := field.Decode([]byte(c.text), &r)
		wrong, ok := errors.AsType[*field.Error](err)
		if !ok || err.Error() != c.message || wrong.Path != c.path || wrong.Nearest != c.nearest {
			t.Errorf("%s: want %q at %q (nearest %q), got %q: %+v", c.text, c.message, c.path, c.nearest, err, wrong)
		}
	}
}

// TestDecodeAll: every mistake is reported, in the order of the text.
func TestDecodeAll(t *testing.T) {
	t.Parallel()
	var r request
	err := field.Decode([]byte(`{"b":1,"model":2,"limits":{"x":3}}`), &r)
	var paths []string
	for _, e := range field.Errors(err) {
		paths = append(paths, e.Path)
	}
	if want := []string{"b", "model", "limits.x"}; !slices.Equal(paths, want) {
		t.Errorf("want %v, got %v: %v", want, paths, err)
	}
}

// TestDecodeAnyText: no text makes it panic, and what it takes json.Unmarshal takes as well.
func TestDecodeAnyText(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{`{`, `}`, `[`, `]`, `"model"`, `"pools"`, `"layout"`, `"limits"`, `"tp"`, `:`, `,`, `1`, `null`, `true`, ` `})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "text"), "")
		var strict, loose request
		if field.Decode([]byte(text), &strict) != nil {
			return
		}
		if err := json.Unmarshal([]byte(text), &loose); err != nil || fmt.Sprint(strict) != fmt.Sprint(loose) {
			t.Fatalf("%s: %+v and %+v (%v)", text, strict, loose, err)
		}
	})
}

// FuzzDecode: what is accepted is JSON of the type, and of what is not, few mistakes are reported.
func FuzzDecode(f *testing.F) {
	type part struct {
		A int            `json:"a"`
		B []string       `json:"b"`
		C map[string]any `json:"c"`
		D *part          `json:"d"`
		E []part         `json:"e"`
	}
	for _, text := range []string{`{"a":1,"b":["x"],"c":{"y":[{}]},"d":{"e":[{"a":2}]}}`, `{"a":1,"a":2,"x":3}`, `{"d":{"d":{"d":7}}}`, `[]`, `{"a":1e99}`, `{}{}`, `{"b":null,"e":[null,1]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := field.Decode(data, &part{})
		if plain := json.Unmarshal(data, &part{}); err == nil && plain != nil {
			t.Errorf("%q is accepted, and is %v", data, plain)
		}
		if n := len(field.Each(err)); n > bound.Mistakes+1 {
			t.Errorf("%d mistakes", n)
		}
	})
}

// TestMistakesAreFew: of very many mistakes the first are reported.
func TestMistakesAreFew(t *testing.T) {
	var into struct {
		A []int `json:"a"`
	}
	for _, text := range []string{`{"a":[` + strings.Repeat(`"x",`, 1000) + `1]}`, "{" + strings.Repeat(`"b":1,`, 1000) + `"a":[]}`, "{" + strings.Repeat(`"a":[],`, 1000) + `"a":[]}`} {
		all := field.Each(field.Decode([]byte(text), &into))
		if n := len(all); n != bound.Mistakes+1 || all[n-1].Error() != "more than 100 mistakes; these are the first" {
			t.Errorf("%.20s: %d mistakes, the last %v", text, n, all[max(0, n-1)])
		}
	}
}
