package workload

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
)

const azure = `TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:17:03.9799600,4808,10
2023-11-16 18:17:04.0319600,3180,8
2023-11-16 18:17:04.0781490,110,27
2023-11-16 18:17:04.0999990,110,15`

const burst = `Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,230,1317,Conversation log
118,GPT-4,417,0,417,API log
`

const vidur = "arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,374,44\n4.5,396,109\n"

const mooncake = `{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1, 2]}
{"timestamp": 0, "input_length": 7322, "output_length": 490, "hash_ids": [0, 14]}

{"timestamp": 3000, "input_length": 6758, "session_id": "a"}
`

const twoBins = `# two
bins:
  - {min_tokens: 600, max_tokens: 1e3, weight: 2}
  - min_tokens: 0
    max_tokens: 600
    weight: 0.5
`

func one(length int, weight float64) Bin { return Bin{length, length + 1, weight} }

func TestReadDistribution(t *testing.T) {
	bins := func(b ...Bin) []Bin { return b }
	asGiven := bins(Bin{600, 1000, 2}, Bin{0, 600, .5})
	for name, c := range map[string]struct {
		file, text string
		want       []Bin
	}{
		"yaml":              {"a.yaml", twoBins, asGiven},
		"yaml, no ending":   {"a", twoBins, asGiven},
		"yml, upper case":   {"A.YML", twoBins, asGiven},
		"yaml in one line":  {"a", "bins: [{min_tokens: 0, max_tokens: 2, weight: 1}]", bins(Bin{0, 2, 1})},
		"yaml with dashes":  {"a", "---\nbins: [{min_tokens: 0, max_tokens: 2, weight: 1}]", bins(Bin{0, 2, 1})},
		"json of bins":      {"a.json", `{"bins": [{"min_tokens": 0, "max_tokens": 2, "weight": 1}]}`, bins(Bin{0, 2, 1})},
		"flow of bins":      {"a", `{bins: [{min_tokens: 0, max_tokens: 2, weight: 1}]}`, bins(Bin{0, 2, 1})},
		"a gap":             {"a.yaml", "bins: [{min_tokens: 5, max_tokens: 6, weight: 1}, {min_tokens: 0, max_tokens: 2, weight: 1}]", bins(one(5, 1), Bin{0, 2, 1})},
		"azure":             {"a.csv", azure, bins(one(110, 2), one(3180, 1), one(4808, 1))},
		"azure, no ending":  {"a", azure, bins(one(110, 2), one(3180, 1), one(4808, 1))},
		"azure, CRLF":       {"a.csv", strings.ReplaceAll(azure, "\n", "\r\n"), bins(one(110, 2), one(3180, 1), one(4808, 1))},
		"burstgpt":          {"a.csv", burst, bins(one(417, 1), one(472, 1), one(1087, 1))},
		"vidur":             {"a.csv", vidur, bins(one(374, 1), one(396, 1))},
		"mooncake":          {"a.jsonl", mooncake, bins(one(6758, 2), one(7322, 1))},
		"mooncake, no end.": {"a.txt", mooncake, bins(one(6758, 2), one(7322, 1))},
		"one column":        {"a.csv", "7\n5\n\n 7 \n# nine\n9", bins(one(5, 1), one(7, 2), one(9, 1))},
		"one named column":  {"a.csv", "how long\n7\n5\n", bins(one(5, 1), one(7, 1))},
		"one, known name":   {"a", "prompt_tokens\n7\n", bins(one(7, 1))},
		"floats":            {"a.csv", "7.0\n5e3\n", bins(one(7, 1), one(5000, 1))},
		"windows mark":      {"a.csv", "\ufeffinput_length,x\n7,1\n", bins(one(7, 1))},
		"mark before yaml":  {"a.yaml", "\ufeffbins: [{min_tokens: 0, max_tokens: 2, weight: 1}]", bins(Bin{0, 2, 1})},
		"case of a name":    {"a.csv", "x, CONTEXTTOKENS ,y\n1,7,2\n", bins(one(7, 1))},
		"quoted text":       {"a.csv", "prompt,prompt_tokens\n\"say \"\"hi\"\",\nplease\",7\n", bins(one(7, 1))},
		"first of names":    {"a.csv", "tokens,input_length\n1,7\n", bins(one(7, 1))},
		"gap in outputs":    {"a.csv", "input_length,output_length\n1,\n1,4\n", bins(one(1, 2))},
		"null output":       {"a.jsonl", `{"prompt_tokens": 3, "completion_tokens": null}`, bins(one(3, 1))},
		"a prompt of none":  {"a.csv", "0\n", bins(one(0, 1))},
		"the longest":       {"a.csv", "1000000000\n", bins(one(1_000_000_000, 1))},
	} {
		// Bytes that come one by one must not change what is read.
		for kind, r := range map[string]io.Reader{
			"at once": strings.NewReader(c.text), "byte by byte": iotest.OneByteReader(strings.NewReader(c.text)),
		} {
			got, err := readDistribution(r, c.file, bound.Trace.Bytes())
			if err != nil {
				t.Errorf("%s, %s: %v", name, kind, err)
				continue
			}
			if diff := gocmp.Diff(&Distribution{Bins: c.want}, got); diff != "" {
				t.Errorf("%s, %s (-want +got)\n%s", name, kind, diff)
			}
		}
	}
}

const names = `(input_length, ContextTokens, "Request tokens", num_prefill_tokens, prompt_tokens, …)`

func TestReadRequestsErrors(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"empty":           {"a.csv", "", "a.csv:1: the file is empty"},
		"blank":           {"a", " \n\n", "a:1: the file is empty"},
		"gzip":            {"a.csv", "\x1f\x8b\x08\x00", "a.csv:1: the file is compressed with gzip; decompress it first"},
		"utf-16":          {"a.csv", "\xff\xfe1\x002\x00", "a.csv:1: not valid UTF-8 text"},
		"comments":        {"a.csv", "# nothing\n# here\n", "a.csv:1: no requests"},
		"name only":       {"a.csv", "input_length\n", "a.csv:1: no requests"},
		"no column":       {"a.csv", "when,who\n1,2\n", "a.csv:1: no column with prompt lengths " + names + "; columns: when, who"},
		"headless":        {"a", "2023-11-16 18:17:03,4808,10\n", "a:1: no column with prompt lengths " + names + `; columns: "2023-11-16 18:17:03", 4808, 10`},
		"word":            {"a.csv", "7\nseven\n\n8\n,", "a.csv:2: must be a number of tokens, got seven\na.csv:5: 2 values, but the first line has 1"},
		"nothing":         {"a.csv", "x,input_length\n1,\n", `a.csv:2: input_length: must be a number of tokens, got ""`},
		"negative":        {"a.csv", "x,input_length\n1,-7\n", "a.csv:2: input_length: must be at least 0, got -7"},
		"huge":            {"a.csv", "x,input_length\n1,1000000001\n", "a.csv:2: input_length: must be at most 1000000000, got 1000000001"},
		"infinite":        {"a.csv", "7\ninf\n1e999\n-inf\nNaN\n", "a.csv:2: must be at most 1000000000, got inf\na.csv:3: must be at most 1000000000, got 1e999\na.csv:4: must be at least 0, got -inf\na.csv:5: must be a number of tokens, got NaN"},
		"a half":          {"a.csv", "Request tokens,x\n7.5,1\n", `a.csv:2: "Request tokens": must be a whole number, got 7.5`},
		"both lengths":    {"a.csv", "input_length,output_length\n-1,x\n", "a.csv:2: input_length: must be at least 0, got -1\na.csv:2: output_length: must be a number of tokens, got x"},
		"bad output":      {"a.csv", "input_length,output_length\n1,-1\n", "a.csv:2: output_length: must be at least 0, got -1"},
		"width":           {"a.csv", azure + "\n1,2\n1,2,3,4\n", "a.csv:6: 2 values, but the first line has 3\na.csv:7: 4 values, but the first line has 3"},
		"open quote":      {"a.csv", "input_length,x\n7,\"a\nb\n", `a.csv:2: extraneous or missing " in quoted-field`},
		"stray quote":     {"a.csv", "input_length,x\n7,a\"b\n8,c\n-9,d\n", "a.csv:2: bare \" in non-quoted-field\na.csv:4: input_length: must be at least 0, got -9"},
		"line in a value": {"a.csv", "7\n\"a\nb\"\n", `a.csv:2: must be a number of tokens, got "a\nb"`},
		"not json":        {"a.jsonl", mooncake + "{\"input_length\": }\n", "a.jsonl:5: not valid JSON: invalid character '}' looking for beginning of value"},
		"cut off":         {"a.jsonl", "{\"input_length\": 7", "a.jsonl:1: not valid JSON: unexpected end of JSON input"},
		"no object":       {"a.jsonl", "[1, 2]\n7\nnull\n", "a.jsonl:1: must be a JSON object, got \"[1, 2]\"\na.jsonl:2: must be a JSON object, got 7\na.jsonl:3: must be a JSON object, got null"},
		"no key":          {"a.jsonl", "{\"timestamp\": 0, \"prompt\": \"hi\"}\n{}\n", "a.jsonl:1: no key with a prompt length " + names + "; keys: prompt, timestamp"},
		"null":            {"a.jsonl", `{"input_length": null}`, "a.jsonl:1: input_length: must be a number of tokens, got null"},
		"text":            {"a.jsonl", `{"input_length": "x7"}`, `a.jsonl:1: input_length: must be a number of tokens, got x7`},
		"bad json output": {"a.jsonl", `{"input_length": 7, "output_length": 1.5}`, "a.jsonl:1: output_length: must be a whole number, got 1.5"},
		"long line":       {"a.jsonl", mooncake + `{"input_length": 7, "x": "` + strings.Repeat("x", bound.Line) + `"}`, "a.jsonl:5: the line is longer than 8 MiB"},
	} {
		refused(t, name, c.file, c.text, c.want)
	}
}

func TestReadBinsErrors(t *testing.T) {
	bin := func(s string) string { return "bins:\n- {" + s + "}\n" }
	for name, c := range map[string]struct{ text, want string }{
		"comment only":   {"# nothing", "a.yaml:1: the file is empty"},
		"no mapping":     {"[1]", "a.yaml:1: must be a mapping of keys to values, got a list"},
		"text":           {"hello", "a.yaml:1: must be a mapping of keys to values, got the text hello"},
		"no list":        {"bins: 3", "a.yaml:1: bins: must be a list of bins, got 3"},
		"nothing":        {"bins:", "a.yaml:1: bins: must be a list of bins, got nothing"},
		"no bins":        {"\nbins: []", "a.yaml:2: bins: must have at least one bin"},
		"misspelled":     {"bin: []", "a.yaml:1: bin: unknown key; nearest: bins\na.yaml:1: bins: missing"},
		"another":        {twoBins + "unit: token", "a.yaml:7: unit: unknown key; keys here: bins"},
		"twice":          {twoBins + "bins: []", "a.yaml:7: bins: given twice, first on line 2"},
		"no bin":         {"bins: [7]", "a.yaml:1: bins[0]: must be a mapping of keys to values, got 7"},
		"near key":       {bin("min_tokens: 0, max_token: 5, weight: 1"), "a.yaml:2: bins[0].max_token: unknown key; nearest: max_tokens\na.yaml:2: bins[0].max_tokens: missing"},
		"far key":        {bin("min_tokens: 0, max_tokens: 5, weight: 1, colour: red"), "a.yaml:2: bins[0].colour: unknown key; keys here: min_tokens, max_tokens, weight"},
		"key of a list":  {"bins:\n- {min_tokens: 0, max_tokens: 5, weight: 1}\n- ? [a]\n  : 1\n  min_tokens: 5\n  max_tokens: 6\n  weight: 1\n", "a.yaml:3: bins[1]: a key must be a word, got a list"},
		"empty bin":      {bin(""), "a.yaml:2: bins[0].min_tokens: missing\na.yaml:2: bins[0].max_tokens: missing\na.yaml:2: bins[0].weight: missing"},
		"negative":       {bin("min_tokens: -1, max_tokens: 5, weight: 1"), "a.yaml:2: bins[0].min_tokens: must be at least 0, got -1"},
		"half":           {bin("min_tokens: 0.5, max_tokens: 5, weight: 1"), "a.yaml:2: bins[0].min_tokens: must be a whole number, got 0.5"},
		"huge":           {bin("min_tokens: 0, max_tokens: 1e10, weight: 1"), "a.yaml:2: bins[0].max_tokens: must be at most 1000000000, got 1e10"},
		"infinite":       {bin("min_tokens: 0, max_tokens: .inf, weight: .inf"), "a.yaml:2: bins[0].max_tokens: must be finite, got .inf\na.yaml:2: bins[0].weight: must be finite, got .inf"},
		"no number":      {bin("min_tokens: 0, max_tokens: 5, weight: .nan"), "a.yaml:2: bins[0].weight: must be finite, got .nan"},
		"words":          {bin("min_tokens: zero, max_tokens: [5], weight: \"1\""), "a.yaml:2: bins[0].min_tokens: must be a number, got the text zero\na.yaml:2: bins[0].max_tokens: must be a number, got a list\na.yaml:2: bins[0].weight: must be a number, got the text 1"},
		"empty range":    {bin("min_tokens: 5, max_tokens: 5, weight: 1"), "a.yaml:2: bins[0].max_tokens: must be above min_tokens (5), got 5"},
		"no weight":      {bin("min_tokens: 0, max_tokens: 5, weight: 0"), "a.yaml:2: bins[0].weight: must be positive, got 0"},
		"negative share": {bin("min_tokens: 0, max_tokens: 5, weight: -.5"), "a.yaml:2: bins[0].weight: must be positive, got -.5"},
		"vast weights": {
			"bins: [{min_tokens: 0, max_tokens: 5, weight: 1e308}, {min_tokens: 5, max_tokens: 6, weight: 1e308}]",
			"a.yaml:1: bins: the sum of the weights is too large",
		},
		"overlap": {
			"bins:\n- {min_tokens: 500, max_tokens: 700, weight: 1}\n- {min_tokens: 0, max_tokens: 501, weight: 1}\n",
			"a.yaml:3: bins[1]: 0 to 501 overlaps bins[0] on line 2, 500 to 700",
		},
		"same twice": {
			"bins:\n- {min_tokens: 0, max_tokens: 7, weight: 1}\n- {min_tokens: 0, max_tokens: 7, weight: 1}\n",
			"a.yaml:3: bins[1]: 0 to 7 overlaps bins[0] on line 2, 0 to 7",
		},
		"one over two": {
			"bins:\n- {min_tokens: 0, max_tokens: 9, weight: 1}\n- {min_tokens: 1, max_tokens: 2, weight: 1}\n- {min_tokens: 3, max_tokens: 4, weight: 1}\n",
			"a.yaml:3: bins[1]: 1 to 2 overlaps bins[0] on line 2, 0 to 9\na.yaml:4: bins[2]: 3 to 4 overlaps bins[0] on line 2, 0 to 9",
		},
		"all at once": {
			"bins:\n- min_tokens: -1\n  max_tokens: 5\n  weight: 1\n- 3\n- min_tokens: 6\n  max_tokens: 8\n  weigth: 1\n- min_tokens: 7\n  max_tokens: 9\n  weight: 0\nextra: 1",
			"a.yaml:2: bins[0].min_tokens: must be at least 0, got -1\n" +
				"a.yaml:5: bins[1]: must be a mapping of keys to values, got 3\n" +
				"a.yaml:6: bins[2].weight: missing\n" +
				"a.yaml:8: bins[2].weigth: unknown key; nearest: weight\n" +
				"a.yaml:9: bins[3]: 7 to 9 overlaps bins[2] on line 6, 6 to 8\n" +
				"a.yaml:11: bins[3].weight: must be positive, got 0\n" +
				"a.yaml:12: extra: unknown key; keys here: bins",
		},
		"anchor":          {"bins: &a []", "a.yaml:1: anchors and aliases (& and *) are not allowed"},
		"unknown anchor":  {"# one\nbins: *b", "a.yaml:2: not valid YAML: unknown anchor 'b' referenced"},
		"two documents":   {twoBins + "---\nbins: []\n", "a.yaml:7: a second document; a file holds one distribution"},
		"syntax":          {"bins:\n- {min_tokens: 0\n  max_tokens: 5}\n", "a.yaml:2: not valid YAML: did not find expected ',' or '}'"},
		"syntax later":    {twoBins + "---\n{", "a.yaml:9: not valid YAML: did not find expected node content"},
		"tab":             {"bins:\n\t- 1\n", "a.yaml:2: not valid YAML: found character that cannot start any token"},
		"latin-1":         {"bins:\n# \xe9\n", "a.yaml:2: not valid UTF-8"},
		"control":         {"bins:\n# \x01\n", `a.yaml:2: control character '\x01'`},
		"too many values": {"bins: []\n" + strings.Repeat("# filler\n", int(bound.Bins.Bytes())/9), "a.yaml:1: too large; a file of length bins may have at most 1 MiB: give the lengths as CSV"},
	} {
		refused(t, name, "a.yaml", c.text, c.want)
	}
}

func refused(t *testing.T, name, file, text, want string) {
	t.Helper()
	d, err := ReadDistribution(strings.NewReader(text), file)
	if err == nil {
		t.Errorf("%s: read as %+v", name, d)
		return
	}
	if diff := gocmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("%s (-want +got)\n%s", name, diff)
	}
	if p, ok := errors.AsType[*Problem](err); !ok || p.File != file || p.Line < 1 {
		t.Errorf("%s: %v is no *Problem of the file", name, err)
	}
}

// TestReadStops: a file of the wrong kind is not read to its end.
func TestReadStops(t *testing.T) {
	for file, text := range map[string]string{"a.csv": "input_length\nx\n", "a.jsonl": "x\n"} {
		endless := io.MultiReader(strings.NewReader(text), repeat("x\n"))
		_, err := readDistribution(endless, file, bound.Trace.Bytes())
		if err == nil || strings.Count(err.Error(), "\n") != maxProblems-1 {
			t.Errorf("%s: want %d problems, got %v", file, maxProblems, err)
		}
	}
}

// TestReadLimit: a file that is too large says so, whatever it is.
func TestReadLimit(t *testing.T) {
	const limit = 1 << 20
	line := map[string]string{"a.csv": "7\n", "a.jsonl": "{\"input_length\":7}\n"}
	for file, text := range line {
		_, err := readDistribution(repeat(text), file, limit)
		if want := file + ":1: too large; a trace or file of lengths may have at most 1 MiB: use a part of it"; err == nil || err.Error() != want {
			t.Errorf("want %s, got %v", want, err)
		}
		fits := limit / len(text) * len(text)
		got, err := readDistribution(io.LimitReader(repeat(text), int64(fits)), file, int64(fits))
		if err != nil || !slices.Equal(got.Bins, []Bin{one(7, float64(limit/len(text)))}) {
			t.Errorf("%s of exactly the limit: %v, %v", file, got, err)
		}
	}
}

// TestReadFails: an error of the reader comes through.
func TestReadFails(t *testing.T) {
	broken := errors.New("the disk is gone")
	for file, text := range map[string]string{"a.csv": azure, "a.jsonl": mooncake, "a.yaml": twoBins, "b.csv": ""} {
		// Behind more than the head, so that it is met while reading lines.
		for _, padding := range []int{0, 3 * headSize} {
			r := io.MultiReader(strings.NewReader(strings.Repeat("\n", padding)+text), iotest.ErrReader(broken))
			_, err := readDistribution(r, file, bound.Trace.Bytes())
			if want := "reading " + file + ": the disk is gone"; !errors.Is(err, broken) || err.Error() != want {
				t.Errorf("want %s, got %v", want, err)
			}
		}
	}
}

// repeated is a text without end.
type repeated struct {
	text string
	at   int
}

func repeat(text string) io.Reader { return &repeated{text: text} }

func (r *repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.text[r.at]
		r.at = (r.at + 1) % len(r.text)
	}
	return len(p), nil
}

// FuzzReadDistribution: no input makes a reader panic or hang, an accepted
// distribution is sound, and each line of an error names the file and a line in
// it.
func FuzzReadDistribution(f *testing.F) {
	for _, s := range []string{
		azure, burst, vidur, mooncake, twoBins, string(builtin), "7\n5\n", "\ufeff1", "a: &a [*a]", "a: *b", "[[[[",
		"? {a: b}\n: 1", "bins: !!float x\n", "\"a\n", "{}", "{\"input_length\":1e9}", "input_length,\"\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, file := range []string{"f", "f.yaml", "f.csv", "f.jsonl"} {
			d, err := ReadDistribution(bytes.NewReader(data), file)
			if err == nil {
				if why := unsound(d); why != "" {
					t.Errorf("%s: %s: %+v", file, why, d)
				}
				continue
			}
			lines := 1
			for _, c := range string(data) {
				if strings.ContainsRune("\n\r\u0085\u2028\u2029", c) { // as YAML counts
					lines++
				}
			}
			for text := range strings.SplitSeq(err.Error(), "\n") {
				var line int
				if n, _ := fmt.Sscanf(text, file+":%d: ", &line); n != 1 || line < 1 || line > lines+1 {
					t.Errorf("no line of the file in %q", text)
				}
			}
		}
	})
}

// unsound says what is wrong with a distribution, or "".
func unsound(d *Distribution) string {
	if len(d.Bins) == 0 {
		return "no bins"
	}
	sorted := slices.SortedFunc(slices.Values(d.Bins), func(a, b Bin) int { return cmp.Compare(a.Min, b.Min) })
	for i, b := range sorted {
		if b.Min < 0 || b.Max <= b.Min || !(b.Weight > 0) || math.IsInf(b.Weight, 0) {
			return fmt.Sprint("a bad bin ", b)
		}
		if i > 0 && b.Min < sorted[i-1].Max {
			return fmt.Sprint("an overlap at ", b)
		}
	}
	dealt := 0
	for _, r := range d.Deal(7, .5) {
		dealt += r.Samples
	}
	if dealt != 7 || d.MeanEffective(0) < 1 {
		return fmt.Sprintf("%d of 7 requests dealt, mean %d", dealt, d.MeanEffective(0))
	}
	return ""
}
