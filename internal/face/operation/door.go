package operation

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	opssimulate "github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Limits of one request to a server. The command line and the Go API do not have them.
const (
	// MaxRequests limits a simulation: each request takes about 200 bytes until its end.
	MaxRequests = 1 << 17
	// MaxReplicas limits a pool: each replica has its own queue and cache.
	MaxReplicas = 1 << 12
	// MaxNames limits a list of names; there are some 100 devices and 10 engines.
	MaxNames = 256
	// MaxLayouts limits the combinations of sizes given to a search.
	MaxLayouts = 1 << 14
	// MaxItems limits any other list: a rate for every minute of a day fits.
	MaxItems = 1 << 11
)

// atTheDoor reports values above the limits, before any work is done. The path is that of the
// value in the request.
func atTheDoor(v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return atTheDoor(v.Elem(), path)
	case reflect.Struct:
		return doorOfStruct(v, path)
	case reflect.Map:
		return tooMany(path, v.Len(), MaxNames)
	case reflect.Slice:
		return doorOfList(v, path)
	default:
		return nil
	}
}

// doorOfStruct checks the fields of a struct, one by one and in combination.
func doorOfStruct(v reflect.Value, path string) error {
	errs := []error{}
	switch x := v.Interface().(type) {
	case opssimulate.Traffic:
		errs = append(errs, requests(path, x.Requests, x.Concurrency))
	case deploy.Request:
		errs = append(errs, requests(path, 0, x.Concurrency))
	case deployment.Pool:
		errs = append(errs, atMost(join(path, "replicas"), x.Replicas, MaxReplicas))
	case search.Space:
		errs = append(errs, sizes(v, path))
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.IsExported() && f.Tag.Get("json") != "-" {
			errs = append(errs, atTheDoor(v.Field(i), join(path, field.JSON(f))))
		}
	}
	return errors.Join(errs...)
}

// requests reports a simulation of too many requests; by default a closed loop sends ten for
// each one in flight.
func requests(path string, given, inFlight int) error {
	if given != 0 {
		return atMost(join(path, "num_prompts"), given, MaxRequests)
	}
	return atMost(join(path, "concurrency"), inFlight, MaxRequests/10)
}

// sizes reports duplicate sizes, and too many combinations of sizes.
func sizes(v reflect.Value, path string) error {
	var errs []error
	layouts := 1
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice {
			errs = append(errs, unique(f, join(path, field.JSON(v.Type().Field(i)))))
			layouts = min(layouts*max(1, f.Len()), math.MaxInt32) // the next product fits
		}
	}
	return errors.Join(append(errs, bounded(path, layouts, MaxLayouts, "%s must have at most %d combinations of sizes, got %d or more"))...)
}

// doorOfList checks a list and its elements. Names must be unique.
func doorOfList(v reflect.Value, path string) error {
	if v.Type().Elem().Kind() == reflect.Uint8 { // JSON as it is written
		return nil
	}
	if v.Type().Elem().Kind() == reflect.String {
		if err := tooMany(path, v.Len(), MaxNames); err != nil {
			return err
		}
		return unique(v, path)
	}
	if err := tooMany(path, v.Len(), MaxItems); err != nil {
		return err
	}
	var errs []error
	for i := range v.Len() {
		errs = append(errs, atTheDoor(v.Index(i), fmt.Sprintf("%s[%d]", path, i)))
	}
	return errors.Join(errs...)
}

// unique reports the first duplicate in a list.
func unique(v reflect.Value, path string) error {
	seen := map[any]bool{}
	for i := range v.Len() {
		x := v.Index(i).Interface()
		if seen[x] {
			return field.At(path, fmt.Sprint(x), "%s has %v twice", path, x)
		}
		seen[x] = true
	}
	return nil
}

// tooMany reports a list that is too long.
func tooMany(path string, n, most int) error {
	return bounded(path, n, most, "%s must have at most %d entries, got %d")
}

// atMost reports a number that is too large.
func atMost(path string, n, most int) error {
	return bounded(path, n, most, "%s must be at most %d in a request to a server, got %d")
}

func bounded(path string, n, most int, format string) error {
	if n <= most {
		return nil
	}
	e := field.At(path, strconv.Itoa(n), format, path, most, n)
	e.Allowed = []string{fmt.Sprintf("at most %d", most)}
	return e
}

// join is the path of a field inside an object.
func join(path, name string) string {
	switch {
	case name == "":
		return path // the fields of an embedded struct are its owner's
	case path == "":
		return name
	}
	return path + "." + name
}
