package field_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
)

// word is one of some words.
type word string

func (word) Words() []string { return []string{"one", "two"} }

// bounded is a request with every kind of facts.
type bounded struct {
	_ struct{} `anyOf:"count,share,name"`

	Count  int                `json:"count,omitempty" minimum:"1" maximum:"9"`
	Share  float64            `json:"share,omitempty" exclusiveMinimum:"0" exclusiveMaximum:"1"`
	Least  float64            `json:"least,omitempty" minimum:"2"`
	Most   float64            `json:"most,omitempty" exclusiveMaximum:"2"`
	Name   string             `json:"name,omitempty" minLength:"1"`
	Word   word               `json:"word,omitempty"`
	Words  []word             `json:"words,omitempty"`
	Tagged string             `json:"tagged,omitempty" enum:",a,b"`
	Sizes  []int              `json:"sizes,omitempty" minimum:"1" maximum:"3" minItems:"1" maxItems:"2" uniqueItems:"true"`
	Names  []string           `json:"names,omitempty"`
	Prices map[string]float64 `json:"prices,omitempty" minimum:"0"`
	Seed   *uint64            `json:"seed,omitempty" minimum:"0" maximum:"9007199254740991"`
	Raw    json.RawMessage    `json:"raw,omitempty"`
	Inner  *inside            `json:"inner,omitempty"`
	List   []inside           `json:"list,omitempty"`
	Limits limits             `json:"limits,omitzero"`
}

type inside struct {
	Needed int `json:"needed" required:"true" minimum:"0" maximum:"5"`
}

// TestDecodeRequest: what a request may have is what the tags of its fields say, and everything that is wrong is said.
func TestDecodeRequest(t *testing.T) {
	t.Parallel()
	rules := field.Rules{Names: 3, Items: 4}
	for _, c := range []struct{ text, want, paths string }{
		{`{"count":1,"share":0.5,"least":2,"most":1.9,"word":"two","words":["one"],"tagged":"","sizes":[3,1],"names":["a","b"],"prices":{"a":0},"seed":0,"raw":{},"inner":{"needed":0}}`, "", ""},
		{`{"count":9.0,"share":1e-3,"seed":null,"sizes":null,"inner":null,"list":[{"needed":5e0}]}`, "", ""},
		{`{"name":"x","seed":9007199254740991}`, "", ""},
		{`{"count":0}`, "count must be between 1 and 9, got 0", "count"},
		{`{"count":1e1}`, "count must be between 1 and 9, got 10", "count"},
		{`{"count":1.5}`, "count must be a whole number, got 1.5", "count"},
		{`{"count":1e30}`, "count must be a whole number, got 1e30", "count"},
		{`{"count":null}`, "count must be a whole number, got null", "count"},
		{`{"share":0}`, "share must be above 0 and below 1, got 0", "share"},
		{`{"share":1}`, "share must be above 0 and below 1, got 1", "share"},
		{`{"share":0.1,"least":1,"most":2}`, "least must be at least 2, got 1\nmost must be below 2, got 2", "least most"},
		{`{"name":""}`, "name is empty", "name"},
		{`{"name":"x","word":"to"}`, `word must be one of one, two, got "to"; nearest: two`, "word"},
		{`{"name":"x","word":"","words":[""]}`, `words[0] must be one of one, two, got ""`, "words[0]"},
		{`{"name":"x","tagged":"c"}`, `tagged must be one of a, b, got "c"`, "tagged"},
		{`{"name":"x","sizes":[]}`, "sizes must have at least 1 entry, got 0", "sizes"},
		{`{"name":"x","sizes":[1,2,3]}`, "sizes must have at most 2 entries, got 3", "sizes"},
		{`{"name":"x","sizes":[1,1]}`, "sizes has 1 twice", "sizes"},
		{`{"name":"x","sizes":[4]}`, "sizes[0] must be between 1 and 3, got 4", "sizes[0]"},
		{`{"name":"x","names":["a","b","a"]}`, "names has a twice", "names"},
		{`{"name":"x","names":["a","b","c","d"]}`, "names must have at most 3 entries, got 4", "names"},
		{`{"name":"x","list":[{"needed":1},{"needed":1},{"needed":1},{"needed":1},{"needed":1}]}`, "list must have at most 4 entries, got 5", "list"},
		{`{"name":"x","prices":{"a":-1}}`, "prices.a must be at least 0, got -1", "prices.a"},
		{`{"name":"x","prices":{"a":1,"b":1,"c":1,"d":1}}`, "prices must have at most 3 entries, got 4", "prices"},
		{`{"name":"x","prices":null}`, "prices must be an object, got null", "prices"},
		{`{"name":"x","raw":[1]}`, "raw must be an object, got [1]", "raw"},
		{`{"name":"x","raw":null}`, "raw must be an object, got null", "raw"},
		{`{"name":"x","limits":null}`, "limits must be an object, got null", "limits"},
		{`{"name":"x","inner":{}}`, "inner.needed is missing", "inner.needed"},
		{`{"name":"x","list":[{"needed":6},{}]}`, "list[0].needed must be between 0 and 5, got 6\nlist[1].needed is missing", "list[0].needed list[1].needed"},
		{`{}`, "count, share or name is missing", ""},
	} {
		var r bounded
		err := field.DecodeRequest([]byte(c.text), &r, rules)
		got, paths := "", []string{}
		if err != nil {
			got = err.Error()
		}
		for _, e := range field.Errors(err) {
			if e.Path != "" {
				paths = append(paths, e.Path)
			}
		}
		if got != c.want || strings.Join(paths, " ") != c.paths {
			t.Errorf("%s:\ngot  %q (%v)\nwant %q (%s)", c.text, got, paths, c.want, c.paths)
		}
	}
	rules.Part = true
	if err := field.DecodeRequest([]byte(`{"inner":{}}`), &bounded{}, rules); err != nil {
		t.Errorf("a part of a request: %v", err)
	}
	if err := field.Decode([]byte(`{"count":0,"share":7,"raw":null}`), &bounded{}); err != nil {
		t.Errorf("types alone: %v", err)
	}
}

// TestWholeNumbers: whole numbers may be written with a point or an exponent; texts stay as they are.
func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	var r bounded
	if err := field.DecodeRequest([]byte(`{"count":3.0,"share":2.5e-1,"name":"1.0 \" 2e0","seed":4e2}`), &r, field.Rules{Names: 1, Items: 1}); err != nil {
		t.Fatal(err)
	}
	if r.Count != 3 || r.Share != 0.25 || r.Name != `1.0 " 2e0` || *r.Seed != 400 {
		t.Errorf("read %+v", r)
	}
	var wrong *field.Error
	if err := field.DecodeRequest([]byte(`{"count":1e400}`), &r, field.Rules{}); !errors.As(err, &wrong) || wrong.Path != "count" {
		t.Errorf("a number that is none: %v", err)
	}
}

// TestEnumOf: the words of a tag, without the default.
func TestEnumOf(t *testing.T) {
	t.Parallel()
	if got := field.EnumOf[bounded]("Tagged"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %v", got)
	}
}
