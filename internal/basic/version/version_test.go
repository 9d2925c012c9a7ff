package version_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
)

// TestOrder: the order of the releases engines make, and that of PEP 440 itself
// (its summary of permitted suffixes).
func TestOrder(t *testing.T) {
	for _, order := range [][]string{
		{"0.1.dev19262", "0.1", "0.5.5", "0.5.5.post1", "0.5.6", "0.5.6.post2", "0.5.10", "0.11.2"},
		{"1.2.0rc5", "1.2.0rc6", "1.2.0rc6.post3", "1.2.0rc20", "1.2.0", "1.2.0.post1", "1.3.0rc9", "1.3.0rc20"},
		{"0.8", "0.13.9", "0.14.0.dev3", "0.14.0a1", "0.14.0b1", "0.14rc2", "0.14", "0.14.0.post1", "0.14.1", "1", "1!0.1"},
		{
			"1.dev0", "1.0.dev456", "1.0a1", "1.0a2.dev456", "1.0a12.dev456", "1.0a12", "1.0b1.dev456", "1.0b2", "1.0b2.post345.dev456",
			"1.0b2.post345", "1.0rc1.dev456", "1.0rc1", "1.0", "1.0.post456.dev34", "1.0.post456", "1.0.15", "1.1.dev1",
		},
		{"", "gpt-oss-dev", "nightly-5b8c30d6", "0"},
	} {
		for i, a := range order {
			for j, b := range order {
				if got := version.Compare(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
					t.Errorf("%q against %q is %d", a, b, got)
				}
			}
		}
	}
}

// TestSame: one release in several spellings.
func TestSame(t *testing.T) {
	for _, same := range [][]string{
		{"0.14", "0.14.0", "0.14.0.0", "v0.14", "0.14+cu129", "V0.14.0+cu12.9-x", " 0.14\n", "0!0.14", "00.014"},
		{"2.1rc1", "2.1.RC1", "2.1-c1", "2.1_pre_1", "2.1preview.1", "2.1.0rc01"},
		{"1a0", "1alpha", "1.0-a.0", "1a."},
		{"1b2", "1.beta2"},
		{"1.post3", "1-3", "1.rev3", "1r3", "1_post_3"},
		{"1.dev0", "1dev", "1-dev"},
	} {
		for _, s := range same {
			if version.Compare(same[0], s) != 0 || version.Check(s) != nil {
				t.Errorf("%q is not %q: %v", s, same[0], version.Check(s))
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for _, s := range []string{
		"", "v", "x", "latest", "new", "1.2x", "1.", ".1", "1..2", "1!", "!1", "1.0-", "1.0--1", "1.0rc1rc2", "0.5.1-rc0.pre3", "1.0.dev1.post1",
		"1.0+", "1.0+a..b", "1.0+-", "1.0+a b", "1 2", "1.99999999999999999999", "1.0rc99999999999999999999", "١", "nightly-5b8c30d6",
	} {
		want := fmt.Sprintf("%q is not a version; want for example 0.11.2 or 1.2.0rc6", s)
		if err := version.Check(s); err == nil || err.Error() != want {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}

// TestLaws: the order is total, a later number is a later release, and stages
// follow each other.
func TestLaws(t *testing.T) {
	number := rapid.IntRange(0, 30)
	release := rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(number, 1, 4).Draw(t, "release")
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(parts), " ", "."), "[]")
	})
	suffix := rapid.SampledFrom([]string{"", ".dev%d", "a%d", "b%d", "rc%d", ".post%d", "rc1.post%d", "rc1.dev%d", ".post1.dev%d"})
	text := rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
		s := release.Draw(t, "release") + suffix.Draw(t, "suffix")
		if strings.Contains(s, "%") {
			s = fmt.Sprintf(s, number.Draw(t, "number"))
		}
		return s
	}))
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := text.Draw(t, "a"), text.Draw(t, "b"), text.Draw(t, "c")
		if version.Compare(a, a) != 0 || version.Compare(a, b) != -version.Compare(b, a) {
			t.Fatalf("%q and %q have no order", a, b)
		}
		if version.Compare(a, b) <= 0 && version.Compare(b, c) <= 0 && version.Compare(a, c) > 0 {
			t.Fatalf("%q, %q and %q go round", a, b, c)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		r, n := release.Draw(t, "release"), number.Draw(t, "number")
		last := ""
		for _, s := range []string{".dev%d", "a%d.dev1", "a%d", "b%d", "rc%d", "rc%d.post1", "", ".post%d.dev1", ".post%d", ".0.1.dev%d"} {
			if strings.Contains(s, "%") {
				if a, b := r+fmt.Sprintf(s, n), r+fmt.Sprintf(s, n+1); version.Compare(a, b) >= 0 {
					t.Fatalf("%s does not come before %s", a, b)
				}
				s = fmt.Sprintf(s, n)
			}
			if last != "" && version.Compare(last, r+s) >= 0 {
				t.Fatalf("%s does not come before %s", last, r+s)
			}
			last = r + s
		}
	})
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{"0.14", "v1.2.0rc6.post3.dev1+cu12.9", "1!2-3", "nightly"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if err := version.Check(s); err == nil && version.Compare(s, strings.ToUpper(s)) != 0 {
			t.Errorf("%q is not itself in capitals", s)
		}
	})
}

func TestMajor(t *testing.T) {
	for s, want := range map[string]int{"0.31": 0, "1.3.0rc18": 1, "v2": 2, "99": 99, "0": 0, "nightly": 0} {
		if got := version.Major(s); got != want {
			t.Errorf("%s: want %d, got %d", s, want, got)
		}
	}
}

// TestRelease: three numbers at most, or the text of a build that has none.
func TestRelease(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "0.19.0": "0.19.0", "v0.5.3rc1": "0.5.3", "1.2.0rc2.post2": "1.2.0", "0.5": "0.5", "nightly-5b8c30": "nightly-5b8c30", "1": "1", "0.x": "0.x", "0.1.2.post": "0.1.2", "rocm7.2.4_u": "rocm7.2.4_u",
	} {
		if got := version.Release(text); got != want {
			t.Errorf("%s: want %q, got %q", text, want, got)
		}
	}
}
