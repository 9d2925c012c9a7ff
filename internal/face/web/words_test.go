package web_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// chinese is the words of the pages in Chinese by their English.
func chinese(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("src/zh.json")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestChinese: a translation has the values of its English, and Chinese in it unless it is all values and signs.
func TestChinese(t *testing.T) {
	value := regexp.MustCompile(`\{#?\d\}`)
	for english, words := range chinese(t) {
		a, b := value.FindAllString(strings.ReplaceAll(english, "{#", "{"), -1), value.FindAllString(words, -1)
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(a, b) {
			t.Errorf("%q has the values %v, %q has %v", english, a, words, b)
		}
		same := strings.Trim(value.ReplaceAllString(words, ""), " :：，×（）ms") == "" || strings.Contains(words, "token") || words == "GPU"
		if !same && !strings.ContainsFunc(words, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			t.Errorf("%q is %q, which is not Chinese", english, words)
		}
	}
}

// TestBothLanguages: what the scripts say and the text of the page have Chinese words too.
func TestBothLanguages(t *testing.T) {
	words := chinese(t)
	scripts, err := filepath.Glob("src/*.ts")
	if err != nil || len(scripts) < 10 {
		t.Fatalf("%v %v", scripts, err)
	}
	said := regexp.MustCompile(`\b(?:say|word)\("((?:[^"\\]|\\.)*)"`)
	for _, name := range scripts {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range said.FindAllStringSubmatch(string(data), -1) {
			if _, ok := words[m[1]]; !ok {
				t.Errorf("%s says %q, which zh.json lacks", name, m[1])
			}
		}
	}
	data, err := os.ReadFile("src/index.html")
	if err != nil {
		t.Fatal(err)
	}
	page := regexp.MustCompile(`(?s)<head>.*</head>|<noscript>.*?</noscript>|<code.*?</code>|<svg.*?</svg>|<button[^>]* lang=.*?</button>`).ReplaceAllString(string(data), "")
	letters := regexp.MustCompile(`[a-z]{2}`)
	names := []string{"Plimsoll", "plan.json", "report.html", "report.md"} // the same in all languages
	for _, m := range regexp.MustCompile(`>([^<>]+)<|(?:aria-label|placeholder)="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		text := strings.Join(strings.Fields(m[1]+m[2]), " ")
		if _, ok := words[text]; !ok && letters.MatchString(text) && !slices.Contains(names, text) {
			t.Errorf("the page says %q, which zh.json lacks", text)
		}
	}
}
