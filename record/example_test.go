package record_test

import (
	"fmt"

	"github.com/alike-dev/alike/record"
)

func Example() {
	var numbering record.Numbering
	cutter := record.NewCutter()
	chunk := record.NewChunk([]record.Kind{record.Words, record.Number})
	for _, row := range [][2]string{{"Linksys switch", "$44.00"}, {"Netgear switch", "44"}, {"switch", ""}} {
		chunk.Append(cutter, []byte(row[0]), [][]byte{[]byte(row[0]), []byte(row[1])})
	}
	table := record.NewTable(2, &numbering)
	table.Add(chunk)

	names := numbering.Column(0)
	df := make([]uint32, numbering.Tokens())
	values := names.Frequencies(df)
	weights := record.IDF(df, values)
	for _, token := range names.Tokens(table.Cells(0)[0] - 1) {
		fmt.Printf("token %d is in %d of %d values and weighs %.2f\n", token, df[token], values, float64(weights[token])/record.WeightUnit)
	}
	fmt.Println("same price:", table.Cells(0)[1] == table.Cells(1)[1], "missing:", table.Cells(2)[1] == 0)
	// Output:
	// token 0 is in 1 of 3 values and weighs 1.10
	// token 1 is in 3 of 3 values and weighs 0.00
	// same price: true missing: true
}
