package web

import "testing"

func TestNumbers(t *testing.T) {
	for _, x := range []struct{ want, got string }{
		{"0", number(0)},
		{"511", number(511.4)},
		{"9.42", number(9.4249)},
		{"10", number(9.999)},
		{"14,500", number(14549)},
		{"1,000,000", number(999999)},
		{"-1,230", number(-1234)},
		{"0.000876", number(0.00087612)},
		{"1.70e+308", number(1.7e308)},
		{"1,234,567", whole(1234567)},
		{"337\u00a0ms", milliseconds(337.2)},
		{"12.3\u00a0s", milliseconds(12345)},
		{"$1.70", dollars(1.7)},
		{"$73,600", dollars(73584)},
		{"<1\u00a0%", percent(0.004)},
		{">99\u00a0%", percent(0.996)},
		{"100\u00a0%", percent(1)},
		{"+20\u00a0%", difference(1.198)},
		{"−54\u00a0%", difference(0.4625)},
		{"2.33\u00a0×", difference(2.327)},
		{"±0\u00a0%", difference(1.001)},
	} {
		if x.want != x.got {
			t.Errorf("want %q, got %q", x.want, x.got)
		}
	}
}
