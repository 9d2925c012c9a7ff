package workload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

func TestReadTrace(t *testing.T) {
	three := &Trace{Requests: []Request{{0, 10, 3, nil}, {0.5, 20, 4, nil}, {2, 30, 5, nil}}}
	for name, c := range map[string]struct {
		text string
		want *Trace
	}{
		"azure 2023": {text: "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.5000000,10,3\n" +
			"2023-11-16 18:17:04.0000000,20,4\n2023-11-16 18:17:05.5,30,5", want: three},
		"azure 2024": {text: "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2024-05-10 00:00:00.250000+00:00,10,3\r\n" +
			"2024-05-10 00:00:00.750000+00:00,20,4\r\n2024-05-10 00:00:02.250000+00:00,30,5\r\n", want: three},
		"burstgpt, with one that failed": {
			text: "\ufeffTimestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n" +
				"5,ChatGPT,10,3,13,Conversation log\n5.25,ChatGPT,10,0,10,API log\n5.5,GPT-4,20,4,24,API log\n7,GPT-4,30,5,35,API log\n",
			want: &Trace{Requests: three.Requests, Skipped: 1},
		},
		"columns as help calls them": {text: "arrival,input,output\n0,10,3\n0.5,20,4\n2,30,5\n", want: three},
		"vidur, out of order":        {text: "id,arrived_at,num_prefill_tokens,num_decode_tokens\n3,2,30,5\n1,0,10,3\n2,0.5,20,4\n", want: three},
		"our own":                    {text: "# made by hand\narrival_s, input_tokens, output_tokens\n1,10,3\n1.5,20,4\n3, 30 ,5\n", want: three},
		"mooncake": {
			text: `{"timestamp": 27000, "input_length": 1500, "output_length": 3, "hash_ids": [46, 47, 48]}` + "\n\n" +
				`{"timestamp": 27500, "input_length": 1024, "output_length": 4, "hash_ids": [46, 99, 12]}` + "\n",
			want: &Trace{BlockTokens: 512, Requests: []Request{
				{0, 1500, 3, []uint32{0, 1, 2}}, {0.5, 1024, 4, []uint32{0, 3}},
			}},
		},
		"dates and numbers in JSON strings": {
			text: `{"arrival":"2024-05-10 00:00:00","input_length":"10","output_length":3}` + "\n" + `{"arrival":"2024-05-10T00:00:00.5Z","input_length":20,"output_length":4}` + "\n" +
				`{"arrival":"2024-05-10 00:00:02","input_length":30,"output_length":5}`,
			want: three,
		},
		"bailian": {
			text: `{"chat_id": 159, "parent_chat_id": -1, "timestamp": 61.1, "input_length": 20, "output_length": 3, "hash_ids": [5, 6]}` + "\n" +
				`{"chat_id": 160, "parent_chat_id": 159, "timestamp": 62.6, "input_length": 40, "output_length": 4, "hash_ids": [5, 6, 7]}`,
			want: &Trace{BlockTokens: 16, Requests: []Request{
				{0, 20, 3, []uint32{0, 1}}, {1.5, 40, 4, []uint32{0, 1, 2}},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadTrace(strings.NewReader(c.text), "x", 0)
			if err != nil {
				t.Fatal(err)
			}
			if d := gocmp.Diff(c.want, got, gocmp.Comparer(func(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 })); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestReadTraceRefuses(t *testing.T) {
	const timed = "arrival_s,input_tokens,output_tokens\n"
	for name, c := range map[string]struct{ file, text, want string }{
		"empty":                {"x", "", "x:1: the file is empty"},
		"no requests":          {"x", timed, "x:1: no requests"},
		"all failed":           {"x", timed + "1,5,0\n2,0,5\n3,5,\n", "x:1: no requests with both a prompt and output tokens"},
		"lengths only":         {"x", "7\n8\n", "x:1: no column with prompt lengths " + names + "; columns: 7"},
		"bins":                 {"x.yaml", twoBins, "x.yaml:1: bins have no arrival times; a trace must be CSV or JSON lines"},
		"no arrivals":          {"x", "input_tokens,output_tokens\n1,2\n", "x:1: no column with arrival times (arrival_s, timestamp, arrived_at, arrival); columns: input_tokens, output_tokens"},
		"no answers":           {"x", "arrival_s,input_tokens\n1,2\n", "x:1: no column with output lengths (output_length, GeneratedTokens, \"Response tokens\", num_decode_tokens, completion_tokens, …); columns: arrival_s, input_tokens"},
		"bad values":           {"x", timed + "soon,many,5\n1\nNaN,1,1\n1e13,1,1\n", "x:2: input_tokens: must be a number of tokens, got many\nx:2: arrival_s: must be a number of seconds or a date and time, got soon\nx:3: 1 values, but the first line has 3\nx:4: arrival_s: must be a number of seconds or a date and time, got NaN\nx:5: arrival_s: must be a number of seconds or a date and time, got 1e13"},
		"too long":             {"x", timed + "1,16777217,1\n", "x:2: input_tokens: must be at most 16777216, got 16777217"},
		"json, no arrival":     {"x", "\n \n{\"input_length\": 1}", "x:3: no key with an arrival time (arrival_s, timestamp, arrived_at, arrival); keys: input_length"},
		"json, no key":         {"x", "{\"input_length\": 1}\n{\"input_length\": 1}\n", "x:1: no key with an arrival time (arrival_s, timestamp, arrived_at, arrival); keys: input_length"},
		"json, a list":         {"x.json", `[{"timestamp":1,"input_length":1,"output_length":1}]`, "x.json:1: a JSON list; write its objects one a line: jq -c '.[]'"},
		"json, a printed list": {"x.json", "[\n  {\n    \"timestamp\": 1\n  }\n]", "x.json:1: a JSON list; write its objects one a line: jq -c '.[]'"},
		"json, no answer":      {"x", `{"timestamp":1,"input_length":1}`, "x:1: no key with an output length (output_length, GeneratedTokens, \"Response tokens\", num_decode_tokens, completion_tokens, …); keys: input_length, timestamp"},
		"json, hashes":         {"x", `{"timestamp":1,"input_length":1,"output_length":1,"hash_ids":["a"]}`, "x:1: hash_ids: must be a list of whole numbers"},
		"json, a date":         {"x", `{"timestamp":null,"input_length":1,"output_length":1}`, "x:1: timestamp: must be a number of seconds or a date and time, got null"},
	} {
		_, err := ReadTrace(strings.NewReader(c.text), c.file, 0)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if diff := gocmp.Diff(c.want, err.Error()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if _, ok := errors.AsType[*Problem](err); !ok {
			t.Errorf("%s: %T", name, err)
		}
	}
	broken := errors.New("disk on fire")
	if _, err := ReadTrace(iotest.ErrReader(broken), "x", 0); !errors.Is(err, broken) {
		t.Errorf("want an error of reading, got %v", err)
	}
	if _, err := readTrace(repeat("1,2,3\n"), "x", 0, limits{100, 1000, 1000}); err == nil || !strings.Contains(err.Error(), "use a part of it") {
		t.Errorf("a file that is too large: %v", err)
	}
}

// TestReadTraceBounds: as many requests and blocks are taken as there may be, and no more is read than those that are wanted.
func TestReadTraceBounds(t *testing.T) {
	const line = `{"timestamp":5,"input_length":1000,"output_length":3,"hash_ids":[1,2]}` + "\n"
	for _, c := range []struct {
		lines, requests, blocks int
		want                    string
	}{
		{4, 4, 8, ""},
		{5, 4, 100, "x.jsonl:5: more than 4 requests; take fewer (num_prompts), or use a part of the file"},
		{5, 100, 8, "x.jsonl:5: more than 8 blocks of prompts; take fewer requests (num_prompts), or use a part of the file"},
	} {
		got, err := readTrace(strings.NewReader(strings.Repeat(line, c.lines)), "x.jsonl", 0, limits{1 << 20, c.requests, c.blocks})
		if c.want == "" && (err != nil || len(got.Requests) != c.lines) || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%d lines: want %q, got %v", c.lines, c.want, err)
		}
	}
	for name, endless := range map[string]io.Reader{
		"x.jsonl": repeat(line), "x.csv": io.MultiReader(strings.NewReader("arrival_s,input_tokens,output_tokens\n"), repeat("5,1000,3\n")),
	} {
		if got, err := ReadTrace(endless, name, 7); err != nil || len(got.Requests) != 7 {
			t.Errorf("the first 7 of %s: %v", name, err)
		}
	}
	if got, err := ReadTrace(strings.NewReader("arrival_s,input_tokens,output_tokens\n5,0,1\n5,9,1\n3,9,1\n4,9,1\n"), "x.csv", 2); err != nil || len(got.Requests) != 2 || got.Requests[1].Arrival != 2 || got.Skipped != 1 {
		t.Errorf("the first two with tokens, in order: %+v, %v", got, err)
	}
}

// FuzzReadTrace: whatever the bytes, there is a trace that can be simulated, or
// an error with a line.
func FuzzReadTrace(f *testing.F) {
	for _, text := range []string{
		"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n",
		"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n",
		"arrival_s,input_tokens,output_tokens\n1e3,5,0\n-1,7,7\n",
		`{"timestamp": 0, "input_length": 1025, "output_length": 6, "hash_ids": [0, 1, 2]}` + "\n{\"timestamp\": 1}",
		`{"chat_id": 1, "timestamp": 0.5, "input_length": 30, "output_length": 6, "hash_ids": [-1, 9223372036854775807]}`,
		"\ufeff{", "\"", "arrival_s,input_tokens,output_tokens\n1,16777217,1\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		trace, err := ReadTrace(bytes.NewReader(text), "x", 0)
		if err != nil {
			return
		}
		contents, last := uint32(0), units.Seconds(0)
		for i, q := range trace.Requests {
			if q.Input < 1 || q.Output < 1 || q.Input > maxLength || q.Output > maxLength || !(q.Arrival >= last) || i == 0 && q.Arrival != 0 {
				t.Fatalf("request %d: %+v: %q", i+1, q, text)
			}
			last = q.Arrival
			for _, b := range q.Blocks {
				if b > contents || trace.BlockTokens < 1 {
					t.Fatalf("request %d: block %d of %d tokens after %d contents: %q", i+1, b, trace.BlockTokens, contents, text)
				}
				contents = max(contents, b+1)
			}
		}
	})
}

// BenchmarkReadTrace reads Mooncake's lines.
func BenchmarkReadTrace(b *testing.B) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, `{"timestamp": %d, "input_length": 5120, "output_length": 50, "hash_ids": [0,1,2,3,4,5,6,7,8,%d]}`+"\n", i, i+9)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := ReadTrace(strings.NewReader(text.String()), "x.jsonl", 0); err != nil {
			b.Fatal(err)
		}
	}
}
