#!/usr/bin/env bash
# Runs alike on real data with truth, and prints the results.
#
#   bench/realdata.sh [DATA]      DATA: folder with the data sets (default ../shared/data)
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:-../shared/data}
[ -d "$data" ] || { echo "no data sets in $data" >&2; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/alike" ./cmd/alike
alike=$tmp/alike

# score PAIRS TRUTH: one line with precision, recall and the counts.
score() {
	"$alike" eval "$1" "$2" --json |
		awk -F'[:,]' '{gsub(/[ "{}]/, ""); v[$1] = $2}
			END {printf "precision %.6f  recall %.6f  (%d found, %d missed, %d extra)\n",
				v["precision"], v["recall"], v["true_positives"], v["false_negatives"], v["false_positives"]}'
}

echo "# 1. planted pairs in newswire: words n = 3, threshold 0.8"
for n in 100 1000; do
	"$alike" pairs "$data/minhash_articles/articles_$n.jsonl.zst" --ngram 3 --threshold 0.8 --quiet -o "$tmp/pairs.csv"
	printf 'articles_%-5s pairs %3d  ' "$n" "$(($(wc -l <"$tmp/pairs.csv") - 1))"
	score "$tmp/pairs.csv" "$data/minhash_articles/articles_$n.truth.csv"
done

echo
echo "# 2. all pairs of two news collections, words n = 5, against an exact join made elsewhere"
echo "# (its tokens differ in the underscore: where that matters, see the last column of each line)"
for set in reuters21578 bbc_news; do
	for t in 0.5 0.6 0.8 0.9; do
		awk -F, -v t="$t" 'NR == 1 || $3 >= t * $4 - 1e-9' "$data/$set/exact_jaccard_5gram_0.5.csv" >"$tmp/truth.csv"
		for how in exact lsh; do
			"$alike" pairs "$data/$set/docs.jsonl.zst" --tokens words --ngram 5 --threshold "$t" \
				--candidates "$how" --quiet -o "$tmp/$how.csv"
			printf '%-12s t = %s  %-5s  ' "$set" "$t" "$how"
			score "$tmp/$how.csv" "$tmp/truth.csv"
		done
		# Every pair that lsh finds must stand in the exact list with the same similarity.
		printf '%-12s t = %s  lsh pairs with another similarity than exact: %d\n' "$set" "$t" \
			"$(comm -13 <(sort "$tmp/exact.csv") <(sort "$tmp/lsh.csv") | wc -l)"
	done
done

echo
echo "# 3. same bytes for any number of threads"
mkdir "$tmp/wiki"
zstd -dc --long=27 "$data/wiki_folders/folders.tar.zst" | tar x -C "$tmp/wiki"
zstd -dcq "$data/versioned_etcd/docs.jsonl.zst" >"$tmp/etcd.jsonl"
for input in "$tmp/wiki/verylarge" "$tmp/etcd.jsonl" "$data/versioned_etcd/docs.jsonl.zst"; do
	for how in auto lsh; do
		for threads in 1 2 7; do
			rm -rf "$tmp/out"
			"$alike" dedup "$input" -o "$tmp/out" --threads "$threads" --candidates "$how" --quiet
			sum=$(cd "$tmp/out" && find . -type f ! -name summary.json | sort | xargs -d '\n' sha256sum | sha256sum | cut -c1-16)
			read -r kept removed clusters < <(awk -F'[:,]' '{gsub(/[ "]/, ""); v[$1] = $2} END {print v["kept"], v["removed"], v["clusters"]}' "$tmp/out/summary.json")
			printf '%-18s %-4s threads %s  kept %s removed %s clusters %s  sha256 %s…\n' \
				"$(basename "$input")" "$how" "$threads" "$kept" "$removed" "$clusters" "$sum"
		done
	done
done
"$alike" pairs "$tmp/etcd.jsonl" --quiet -o "$tmp/pairs.csv"
printf 'versioned_etcd: pairs against the lineage of its pages (graded similarity, see its README)  '
score "$tmp/pairs.csv" "$data/versioned_etcd/truth.csv"

echo
echo "# 5. languages: pairs at threshold 0.8"
"$alike" pairs "$data/udhr/docs.jsonl.zst" --quiet | sed 's/^/udhr  /'
for lang in ja zh ko de vi he simple en; do
	"$alike" pairs "$data/wiki_multilingual/$lang.jsonl.zst" --quiet -o "$tmp/pairs.csv"
	printf 'wiki_multilingual %-6s %d pairs\n' "$lang" "$(($(wc -l <"$tmp/pairs.csv") - 1))"
done
# Copies with small edits, planted among texts without spaces.
for lang in zh ja; do
	go run ./bench/corpusgen -o "$tmp/$lang.jsonl" -truth "$tmp/$lang.csv" -documents 5000 -duplicates 0.2 \
		"$data/wiki_multilingual/$lang.jsonl.zst" 2>/dev/null
	"$alike" pairs "$tmp/$lang.jsonl" --candidates lsh --quiet -o "$tmp/pairs.csv"
	awk -F, 'NR == 1 || $3 >= 0.8' "$tmp/$lang.csv" >"$tmp/truth.csv"
	printf 'planted %s: %d pairs at or above 0.8  ' "$lang" "$(($(wc -l <"$tmp/truth.csv") - 1))"
	score "$tmp/pairs.csv" "$tmp/truth.csv"
done
zstd -dcq "$data/udhr/docs.jsonl.zst" | grep -E '^\{"id": "(tha[^"]*|lao|khm|mya[^"]*|cmn_[^"]*|jpn)"' >"$tmp/scripts.jsonl"
# The same texts with every 40th code point dropped, under other ids.
perl -CSD -Mutf8 -pe 's/^(\{"id": ")/$1edited-/; s/("text": ")(.*)("\})/my ($a, $t, $z) = ($1, $2, $3); my $n = 0; $t =~ s{(\\.|.)}{length($1) == 1 && ++$n % 400 == 0 ? "" : $1}ges; "$a$t$z"/e' \
	"$tmp/scripts.jsonl" >"$tmp/edited.jsonl"
"$alike" pairs "$tmp/scripts.jsonl" "$tmp/edited.jsonl" --quiet | sed 's/^/edited  /'
