package calibration

import "testing"

func TestRelease(t *testing.T) {
	for version, want := range map[string]string{
		"": "", "0.19.0": "0.19.0", "v0.5.3rc1": "0.5.3", "1.2.0rc2.post2": "1.2.0", "0.5": "0.5", "nightly-5b8c30": "nightly-5b8c30", "1": "1", "0.x": "0.x", "0.1.2.post": "0.1.2", "rocm7.2.4_u": "rocm7.2.4_u",
	} {
		if got := release(version); got != want {
			t.Errorf("%s: want %q, got %q", version, want, got)
		}
	}
}
