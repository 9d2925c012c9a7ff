// Package op describes operators, the kernels of one forward pass, as small
// comparable values: what shape they have and therefore how many bytes they
// move and how much arithmetic they do.
//
// In: shapes. Out: Op values and their Work. It knows neither the model nor the device
// of an operator. Start with Op, then Work.
package op
