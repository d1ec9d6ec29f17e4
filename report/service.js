'use strict';
// What this adds, the page also does without it, with a button.
(() => {
  const one = s => document.querySelector(s), all = s => [...document.querySelectorAll(s)];

  // Keys n and p go from one shared passage to the next, on both sides.
  let at = -1;
  function jump(step) {
    const left = all('#left .same');
    if (!left.length) return;
    at = at < 0 && step < 0 ? left.length - 1 : (at + step + left.length) % left.length;
    const pair = [document.getElementById(left[at].hash.slice(1)), left[at]];
    all('.here').forEach(e => e.classList.remove('here'));
    pair.filter(Boolean).forEach(e => { e.classList.add('here'); e.scrollIntoView({ block: 'nearest' }); });
    left[at].focus({ preventScroll: true });
  }
  document.addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches('textarea, select, input:not([type=range])')) return;
    if (e.key === 'n') jump(1);
    if (e.key === 'p') jump(-1);
  });

  // The slider counts and hides at once, and keeps the address that of the view.
  const slider = one('#threshold'), count = one('#count');
  if (slider && count) {
    const similarities = count.dataset.all.split(' ').filter(Boolean).map(Number);
    const recount = () => {
      const least = Number(slider.value);
      count.textContent = similarities.filter(s => s >= least).length;
      one('#least').textContent = least.toFixed(2);
      all('#matches li').forEach(e => { e.hidden = Number(e.dataset.similarity) < least; });
      one('#mark')?.setAttribute('x1', 100 * least);
      one('#mark')?.setAttribute('x2', 100 * least);
    };
    slider.addEventListener('input', recount);
    slider.addEventListener('change', () => {
      const link = one('#link');
      if (!link) return;
      const address = new URL(link.href);
      address.searchParams.set('threshold', slider.value);
      link.href = address;
      history.replaceState(null, '', address);
    });
  }

  // A file that is dropped on the text is sent.
  const area = one('#text'), file = one('#file');
  if (area && file) {
    const over = on => e => { if (e.dataTransfer.types.includes('Files')) { e.preventDefault(); area.classList.toggle('over', on); } };
    area.addEventListener('dragover', over(true));
    area.addEventListener('dragleave', over(false));
    area.addEventListener('drop', e => {
      over(false)(e);
      if (e.dataTransfer.files.length) { file.files = e.dataTransfer.files; area.form.requestSubmit(); }
    });
  }

  // Counters follow the collection while somebody looks.
  const counters = one('#counters');
  async function follow() {
    if (document.hidden) return;
    try {
      const answer = await fetch('/page/counters?collection=' + encodeURIComponent(counters.dataset.collection));
      if (!answer.ok) return;
      const values = await answer.json();
      all('[data-counter]').forEach(e => { e.textContent = values[e.dataset.counter].toLocaleString('en'); });
    } catch { /* the server is away for a while */ }
  }
  if (counters) setInterval(follow, 5000);
})();
