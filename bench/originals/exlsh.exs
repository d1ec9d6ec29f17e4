# Sketches the lines of a file by ExLSH, words and characters: prints MB of text a second of processor time,
# the median of several rounds.
[file, rounds] = System.argv()
texts = file |> File.read!() |> String.split("\n", trim: true)
size = texts |> Enum.map(&byte_size/1) |> Enum.sum()

for {name, sketch} <- [words: &ExLSH.wordwise_lsh/1, characters: &ExLSH.charwise_lsh/1] do
  took =
    for _ <- 1..String.to_integer(rounds) do
      {before, _} = :erlang.statistics(:runtime)
      Enum.each(texts, sketch)
      {after_, _} = :erlang.statistics(:runtime)
      after_ - before
    end

  median = took |> Enum.sort() |> Enum.at(div(length(took), 2))
  IO.puts("  #{name}, MD5: #{Float.round(size / 1000 / median, 2)} MB/s")
end
