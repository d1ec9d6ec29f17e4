package linkage_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/alike-dev/alike/linkage"
)

func ExampleJoin() {
	dir, err := os.MkdirTemp("", "linkage")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	left, right := filepath.Join(dir, "left.csv"), filepath.Join(dir, "right.csv")
	for path, content := range map[string]string{
		left:  "id,name,maker\n1,EtherFast 8-Port Switch EZXS88W,Linksys\n2,ProSafe 5 Port Switch FS105,Netgear\n3,Bravia Television KDL40,Sony\n",
		right: "id,name,maker\na,Linksys EtherFast Switch EZXS88W,linksys\nb,Netgear ProSafe FS105 Desktop Switch,netgear\nc,Garden Hose 30 m,gardena\n",
	} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			panic(err)
		}
	}
	r, err := linkage.Join(context.Background(), linkage.Config{Left: left, Right: right})
	if err != nil {
		panic(err)
	}
	for l := range r.Links.All() {
		fmt.Printf("%s %s %.3f\n", l.A, l.B, l.Similarity)
	}
	// Output:
	// 1 a 0.772
	// 2 b 0.598
}
