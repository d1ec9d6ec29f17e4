const least = document.getElementById("least");
if (least) {
  const counts = least.dataset.counts.split(" ").map(Number), copies = Number(least.dataset.copies), documents = Number(least.dataset.documents);
  const says = () => {
    let gone = copies;
    for (let i = Number(least.value); i < counts.length; i++) gone += counts[i];
    const from = (Number(least.value) / counts.length).toFixed(2);
    document.getElementById("least-says").textContent = from + ": " + gone.toLocaleString("en") + " removed, " + (documents - gone).toLocaleString("en") + " of " + documents.toLocaleString("en") + " left";
  };
  least.addEventListener("input", says);
  says();
}
