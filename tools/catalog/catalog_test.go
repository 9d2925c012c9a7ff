package main

import (
	"strings"
	"testing"
)

const chosen = `
# a comment
keep architectures hidden_size text_config depth
keep dtype
from there config a tool 1.0
cut one org/One
    less text_config.depth
    with text_config.width [1, 2]
    with kind "a b"
written two org/Two there
`

func TestCut(t *testing.T) {
	s, err := parse(chosen)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.shapes) != 2 || s.shapes[0].source != "org/One" || !s.shapes[1].byHand || len(s.keep) != 5 {
		t.Errorf("read as %+v", s)
	}
	got, err := s.cut(&s.shapes[0], []byte(`{
		"text_config": {"depth": 3, "hidden_size": 1.0e3, "unread": {"hidden_size": 1}}, "unread": Infinity,
		"dtype": null, "architectures": ["A", "B"]
	}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "text_config": {
    "hidden_size": 1.0e3,
    "width": [1,2]
  },
  "architectures": ["A","B"],
  "kind": "a b"
}
`
	if string(got) != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

func TestRefusals(t *testing.T) {
	for _, text := range []string{"cut one", "less a", "with a 1", "something else", "cut a b\nwith a", "written a b", "from a config"} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	s, err := parse("keep a\ncut one x/y\nwith b.c 1")
	if err != nil {
		t.Fatal(err)
	}
	for config, want := range map[string]string{
		`{"a": 1}`:   "b.c: no such object",
		`{"b": 1}`:   "nothing of it is kept",
		`{"a": 1} 2`: "more than one JSON value",
		`{"a": `:     "EOF",
	} {
		if _, err := s.cut(&s.shapes[0], []byte(config)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, got %v", config, want, err)
		}
	}
}
