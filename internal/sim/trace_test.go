package sim

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"plimsoll/internal/workload"
)

func TestReadTrace(t *testing.T) {
	three := &Trace{Requests: []TraceRequest{{0, 10, 3, nil}, {0.5, 20, 4, nil}, {2, 30, 5, nil}}}
	for name, c := range map[string]struct {
		text   string
		tokens int
		want   *Trace
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
		"vidur, out of order": {text: "id,arrived_at,num_prefill_tokens,num_decode_tokens\n3,2,30,5\n1,0,10,3\n2,0.5,20,4\n", want: three},
		"our own":             {text: "# made by hand\narrival_s, input_tokens, output_tokens\n1,10,3\n1.5,20,4\n3, 30 ,5\n", want: three},
		"mooncake": {
			text: `{"timestamp": 27000, "input_length": 1500, "output_length": 3, "hash_ids": [46, 47, 48]}` + "\n\n" +
				`{"timestamp": 27500, "input_length": 1024, "output_length": 4, "hash_ids": [46, 99, 12]}` + "\n",
			want: &Trace{BlockTokens: 512, Requests: []TraceRequest{
				{0, 1500, 3, []uint32{0, 1, 2}}, {0.5, 1024, 4, []uint32{0, 3}},
			}},
		},
		"mooncake, other blocks": {
			text: `{"timestamp": 1, "input_length": 30, "output_length": 3, "hash_ids": [7, 8]}`, tokens: 16,
			want: &Trace{BlockTokens: 16, Requests: []TraceRequest{{0, 30, 3, []uint32{0, 1}}}},
		},
		"bailian": {
			text: `{"chat_id": 159, "parent_chat_id": -1, "timestamp": 61.1, "input_length": 20, "output_length": 3, "hash_ids": [5, 6]}` + "\n" +
				`{"chat_id": 160, "parent_chat_id": 159, "timestamp": 62.6, "input_length": 40, "output_length": 4, "hash_ids": [5, 6, 7]}`,
			want: &Trace{BlockTokens: 16, Requests: []TraceRequest{
				{0, 20, 3, []uint32{0, 1}}, {1.5, 40, 4, []uint32{0, 1, 2}},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadTrace(strings.NewReader(c.text), "x", c.tokens)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 })); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestReadTraceRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                "x:1: no requests with both a prompt and output tokens",
		"a,b\n1,2\n":      "x:1: the first line must name the columns arrival_s, input_tokens, output_tokens, or those of Azure, BurstGPT or Vidur",
		"\"a,b\n1,2\n":    `x:1: extraneous or missing " in quoted-field`,
		"{\"timestamp\":": "x:1: unexpected end of JSON input",
		"\n \n{}":         "x:3: must have timestamp, input_length and output_length",
		`{"timestamp":1}`: "x:1: must have timestamp, input_length and output_length",
		`{"timestamp":1,"input_length":-5,"output_length":1}`: "x:1: lengths must be between 0 and 16777216 tokens, got -5 and 1",
		"arrival_s,input_tokens,output_tokens\nsoon,many,5\n1\nNaN,1,1\n": "x:2: arrival_s: must be a number of seconds or a date and time, got \"soon\"\n" +
			"x:2: input_tokens: must be a whole number, got \"many\"\nx:3: only 1 values\nx:4: the arrival time must be finite, got NaN s",
	} {
		_, err := ReadTrace(strings.NewReader(text), "x", 0)
		if err == nil || err.Error() != want {
			t.Errorf("%q: want\n%s\ngot\n%v", text, want, err)
		}
		if _, ok := errors.AsType[*workload.Problem](err); !ok {
			t.Errorf("%q: %T", text, err)
		}
	}
	long := `{"timestamp":1,"hash_ids":[` + strings.Repeat("1,", maxLine/2) + "1]}"
	if _, err := ReadTrace(strings.NewReader(long), "x", 0); err == nil || !strings.Contains(err.Error(), "x:1: the line is longer than 8 MiB") {
		t.Errorf("long line: %v", err)
	}
	broken := errors.New("disk on fire")
	for _, text := range []string{"{", "a,b"} {
		r := iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(text + strings.Repeat("x", 100))))
		if _, err := ReadTrace(r, "x", 0); !errors.Is(err, iotest.ErrTimeout) {
			t.Errorf("want an error of reading, got %v", err)
		}
	}
	if _, err := ReadTrace(iotest.ErrReader(broken), "x", 0); !errors.Is(err, broken) {
		t.Errorf("want an error of reading, got %v", err)
	}
	if _, err := ReadTrace(strings.NewReader(""), "x", -1); err == nil {
		t.Error("negative blocks: want an error")
	}
}

// TestResultIsTrace: what WriteCSV writes can be replayed, with the same result.
func TestResultIsTrace(t *testing.T) {
	config := &Config{Client: closed(8), Workers: Pool{Engine: vllm(), Stepper: h100()}, Records: true}
	first, err := Run(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := WriteCSV(&text, first.Records); err != nil {
		t.Fatal(err)
	}
	trace, err := ReadTrace(&text, "x.csv", 0)
	if err != nil {
		t.Fatal(err)
	}
	config.Client = trace
	second, err := Run(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	// The file has nanoseconds, and some arrive within them of a step's end.
	if d := float64(first.Latency.Mean/second.Latency.Mean) - 1; d > 0.01 || d < -0.01 {
		t.Errorf("latency: want %v, got %v", first.Latency.Mean, second.Latency.Mean)
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
		f.Add([]byte(text), 0)
		f.Add([]byte(text), 16)
	}
	f.Fuzz(func(t *testing.T, text []byte, tokens int) {
		trace, err := ReadTrace(bytes.NewReader(text), "x", tokens)
		if err != nil {
			return
		}
		if err := trace.check(); err != nil {
			t.Fatalf("%v: %q", err, text)
		}
	})
}
