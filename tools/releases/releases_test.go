package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOrder: candidates come before their release, post-releases after; builds of a day are no releases.
func TestOrder(t *testing.T) {
	all := []string{"0.9.2", "0.10.1", "0.10.1.1", "1.0.0rc6", "1.0.0", "1.2.0rc2", "1.2.0rc2.post2", "1.2.0rc10", "1.2.0", "1.2.0.post1"}
	if !slices.IsSortedFunc(all, func(a, b string) int { return slices.Compare(order(a), order(b)) }) {
		t.Error("not in order")
	}
	for _, v := range []string{"1.6.0.dev20261022", "0.0.0a0", "latest"} {
		if order(v) != nil {
			t.Errorf("%s is no release", v)
		}
	}
}

// TestRanges: a name that came, went and came again; one that all have; values that a release does not list.
func TestRanges(t *testing.T) {
	versions := []string{"1", "2", "3", "4"}
	for want, has := range map[string][]bool{
		"": {true, true, true, true}, "2..": {false, true, true, true}, "..3": {true, true}, "..2,3..4": {true, false, true},
	} {
		if got := ranges(has, versions); got != want {
			t.Errorf("%v: want %q, got %q", has, want, got)
		}
	}
	names := map[string][]bool{"--x": {true, true, true, true}, "--x=a": {true, true}, "--x=b": {false, true, true}}
	free(names)
	if got := ranges(names["--x=a"], versions); got != "..3,4.." {
		t.Errorf("the last release does not list its values: %q", got)
	}
}

// TestPins: the engines that a wheel of Dynamo requires, and the tag of its images.
func TestPins(t *testing.T) {
	got := pins(map[string]string{"x.dist-info/METADATA": "Requires-Dist: vllm[flashinfer,runai]==0.14.1; extra == 'vllm'\nRequires-Dist: sglang==0.5.8; extra == 'sglang'\n" +
		"Requires-Dist: tensorrt-llm==1.3.0rc1; extra == 'trtllm'\nRequires-Dist: uvloop; extra == 'vllm'\n"})
	if fmt.Sprint(got) != "map[sglang:0.5.8 trtllm:1.3.0rc1 vllm:0.14.1]" {
		t.Error(got)
	}
	all := []release{{version: "0.8.1"}, {version: "0.8.1.post1"}, {version: "1.2.0.post1"}}
	if imageTag("0.8.1.post1", all) != "0.8.1.post1" || imageTag("1.2.0.post1", all) != "1.2.0" {
		t.Error("tags of images")
	}
}

// TestWheel: the releases of an index, and the members of a wheel by ranges, without the rest of it.
func TestWheel(t *testing.T) {
	var wheel bytes.Buffer
	w := zip.NewWriter(&wheel)
	for name, data := range map[string][]byte{"vllm/big.so": bytes.Repeat([]byte("0123456789abcdef"), 1<<18), "vllm/args.py": []byte("pass\n")} {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	sent := 0
	mux := http.NewServeMux()
	mux.HandleFunc("GET /simple/vllm/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<a href="/f/vllm-0.9.2.tar.gz#sha256=0">vllm-0.9.2.tar.gz</a><a href="/f/vllm-0.10.0-cp38-abi3-x.whl">vllm-0.10.0-cp38-abi3-x.whl</a>
<a href="/f/vllm-0.9.9.tar.gz" data-yanked="wrong">vllm-0.9.9.tar.gz</a>`)
	})
	mux.HandleFunc("GET /pypi/vllm/json", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"releases": {"0.9.2": [{"upload_time": "2025-07-08T01:02:03"}], "0.10.0": [{"upload_time": "2025-07-25T01:02:03"}]}}`)
	})
	mux.HandleFunc("GET /f/", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Range"), "bytes=") {
			sent++
		}
		http.ServeContent(w, r, "x.whl", time.Time{}, bytes.NewReader(wheel.Bytes()))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	all, err := published(server.URL+"/simple", "vllm")
	if err != nil || len(all) != 2 || all[0] != (release{"0.9.2", "2025-07-08", ""}) || all[1].version != "0.10.0" {
		t.Fatalf("%+v, %v", all, err)
	}
	files, err := wheelReader{}.read(&all[1], regexp.MustCompile(`args\.py$`))
	if err != nil || len(files) != 1 || files["vllm/args.py"] != "pass\n" {
		t.Fatalf("%v, %v", files, err)
	}
	if most := 6; sent > most { // of 17 blocks
		t.Errorf("%d ranges were asked for", sent)
	}
}
