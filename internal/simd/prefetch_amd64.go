//go:build !purego

package simd

//go:generate sh -c "cd asm && go run ./prefetch -out ../prefetch_amd64.s -stubs ../prefetch_stub_amd64.go -pkg simd"
