package command

import "testing"

// FuzzPredictions: no file makes the reader panic, and times are not negative.
func FuzzPredictions(f *testing.F) {
	f.Add([]byte("id,ttft_ms,tpot_ms\na,1,2\nb,,\n"))
	f.Add([]byte("tpot_ms,id,ttft_ms\n1,a,-2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := readPredictions(data)
		for id, p := range all {
			if err == nil && (p[0] < 0 || p[1] < 0) {
				t.Errorf("%s: %v", id, p)
			}
		}
	})
}
