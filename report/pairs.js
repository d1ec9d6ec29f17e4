'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const words = { y: 'yes', n: 'no', u: 'unsure' }, labels = { y: '1', n: '0', u: 'u' };
let verdicts = {}, shown = [], at = 0;

// A browser may refuse to keep anything: then verdicts last as long as the page.
const store = 'alike ' + data.key;
try { verdicts = JSON.parse(localStorage.getItem(store)) || {}; } catch { }
function keep() { try { localStorage.setItem(store, JSON.stringify(verdicts)); } catch { } }

// Values of the tables become text nodes only, never markup.
function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
  e.append(...children);
  return e;
}
const signed = x => (x > -0.005 ? '+' : '−') + Math.abs(x).toFixed(2);
function share(p) { return p > 0.9999 && p < 1 ? '> 0.9999' : p < 0.0001 && p > 0 ? '< 0.0001' : p.toFixed(4); }

function wanted(p, i) {
  const v = verdicts[i], kind = $('kind').value;
  if (p.probability < Number($('least').value) || p.probability > Number($('most').value)) return false;
  if (kind === 'link') return p.link;
  if (kind === 'other') return !p.link;
  if (kind === 'open') return !v;
  if (kind === 'against') return v === 'y' && !p.link || v === 'n' && p.link;
  return true;
}

function list(keepPair) {
  shown = data.pairs.map((p, i) => i).filter(i => wanted(data.pairs[i], i));
  const by = { high: -1, low: 1 }[$('order').value];
  if (by) shown.sort((i, j) => by * (data.pairs[i].probability - data.pairs[j].probability) || i - j);
  at = Math.max(0, shown.indexOf(keepPair));
  $('list').replaceChildren(...shown.map((i, place) => {
    const p = data.pairs[i];
    const li = el('li', { role: 'option', id: 'pair' + place }, el('span', {}, share(p.probability)), el('span', { dir: 'auto' }, p.a + ' · ' + p.b), el('span', {}, mark(i)));
    li.onclick = () => choose(place);
    return li;
  }));
  choose(at);
}

function mark(i) { return verdicts[i] ? words[verdicts[i]] : data.pairs[i].link ? 'link' : ''; }

function counts() {
  const n = Object.keys(verdicts).length;
  $('count').textContent = shown.length + ' of ' + data.pairs.length + ' pairs shown, ' + n + (n === 1 ? ' verdict' : ' verdicts');
  $('save').disabled = n === 0;
}

function choose(place) {
  const rows = $('list').children;
  rows[at]?.removeAttribute('aria-selected');
  at = Math.max(0, Math.min(place, shown.length - 1));
  rows[at]?.setAttribute('aria-selected', 'true');
  rows[at]?.scrollIntoView({ block: 'nearest' });
  $('list').setAttribute('aria-activedescendant', rows[at]?.id || '');
  counts();
  show();
}

function show() {
  if (shown.length === 0) {
    $('pair').replaceChildren(el('p', { class: 'soft' }, data.pairs.length ? 'No pair is like that: widen the filter.' : 'There are no candidates: nothing in the tables is alike.'));
    return;
  }
  const i = shown[at], p = data.pairs[i];
  const buttons = el('p', {}, 'Do they belong together? ');
  for (const k of 'ynu') {
    const b = el('button', { 'aria-pressed': String(verdicts[i] === k) }, el('kbd', {}, k), ' ' + words[k]);
    b.onclick = () => judge(k);
    buttons.append(b, ' ');
  }
  buttons.append(el('span', { class: 'soft' }, el('kbd', {}, 'j'), ' next ', el('kbd', {}, 'k'), ' before ', el('kbd', {}, 'x'), ' no verdict'));
  const cut = data.byWhole ? 'from similarity ' + data.threshold + ' on' : 'above probability ' + share(data.threshold);
  const about = el('p', {}, el('strong', {}, p.link ? 'A link' : 'No link'), ': probability ' + share(p.probability) + ', similarity ' + p.similarity.toFixed(4) +
    '. Links are those pairs ' + cut + ' that the rule allows.');
  $('pair').replaceChildren(about, buttons, records(p), el('h2', {}, 'Where the score comes from'), el('p', { class: 'soft' },
    'Log odds of a match, in nats: 0 is as likely as not, +2.2 is nine to one. Open a column to see its words.'), waterfall(p));
  $('pair').scrollTop = 0;
}

function records(p) {
  const table = el('table', {}, el('tr', {}, el('th', {}, ''), el('th', { dir: 'auto' }, p.a), el('th', { dir: 'auto' }, p.b), el('td', {}, 'similarity')));
  const cell = ws => {
    const td = el('td', { dir: 'auto' });
    for (const w of ws) td.append(w.m ? el('mark', {}, w.t) : w.t, ' ');
    return td;
  };
  const empty = p.values.filter(v => v.a.length + v.b.length === 0);
  for (const v of p.values) {
    if (empty.includes(v)) continue;
    const s = !v.compared ? 'not compared' : v.similarity < 0 ? 'missing' : v.similarity.toFixed(2);
    table.append(el('tr', v.compared ? {} : { class: 'apart' }, el('th', {}, v.name), cell(v.a), cell(v.b), el('td', {}, s)));
  }
  if (empty.length) table.append(el('tr', { class: 'apart' }, el('th', {}, 'missing in both'), el('td', { colspan: 3 }, empty.map(v => v.name).join(', '))));
  return table;
}

// Bars begin where the one before ends: each step, within it its parts, and the sum at last.
function waterfall(p) {
  let low = 0, high = 0, sum = 0;
  const reach = z => { low = Math.min(low, z); high = Math.max(high, z); };
  for (const s of p.steps) {
    let z = sum;
    for (const part of s.parts || []) reach(z += part.adds);
    reach(sum += s.adds);
  }
  const place = z => 100 * (z - low) / (high - low || 1) + '%';
  const bar = (name, from, adds, kind) => {
    const i = el('i', { class: kind || (adds < 0 ? 'against' : 'for') }), zero = el('b');
    i.style.left = place(Math.min(from, from + adds));
    i.style.width = 100 * Math.abs(adds) / (high - low || 1) + '%';
    zero.style.left = place(0);
    return el('div', { class: 'bar' }, el('span', { dir: 'auto' }, name), el('div', { class: 'track' }, zero, i), el('span', {}, signed(adds)));
  };
  const all = el('div', { id: 'waterfall' });
  let from = 0;
  for (const s of p.steps) {
    const own = bar(s.name, from, s.adds);
    if (s.parts || s.notes) {
      const d = el('details', {}, el('summary', {}, own));
      let z = from;
      for (const part of s.parts || []) { d.append(bar(part.name, z, part.adds)); z += part.adds; }
      for (const note of s.notes || []) d.append(el('p', { dir: 'auto' }, note));
      all.append(d);
    } else {
      all.append(el('div', { class: 'plain' }, own));
    }
    from += s.adds;
  }
  all.append(el('div', { class: 'plain' }, bar('log odds of a match: probability ' + share(p.probability), 0, from, 'sum')));
  return all;
}

function judge(k) {
  if (shown.length === 0) return;
  const i = shown[at];
  if (k) verdicts[i] = k; else delete verdicts[i];
  keep();
  $('list').children[at].lastChild.textContent = mark(i);
  if (k && at + 1 < shown.length) choose(at + 1); else { counts(); show(); }
}

$('save').onclick = () => {
  const parts = [data.header];
  data.pairs.forEach((p, i) => {
    if (verdicts[i]) parts.push(p.rowBytes ? Uint8Array.from(atob(p.rowBytes), c => c.charCodeAt(0)) : p.row, labels[verdicts[i]] + '\n');
  });
  const a = el('a', { href: URL.createObjectURL(new Blob(parts, { type: 'text/csv' })), download: 'labels.csv' });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
};
document.onkeydown = e => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches?.('input, select')) return;
  const k = e.key.toLowerCase();
  if (k in words) judge(k);
  else if (k === 'x') judge('');
  else if (k === 'j' || k === 'arrowdown') choose(at + 1);
  else if (k === 'k' || k === 'arrowup') choose(at - 1);
  else return;
  e.preventDefault();
};
for (const id of ['kind', 'least', 'most', 'order']) $(id).oninput = () => list(shown[at]);
$('filter').onsubmit = e => e.preventDefault();

$('title').textContent = 'Pairs of ' + data.tables.join(' and ');
const n = data.pairs.length;
$('about').textContent = n === data.total ? 'All ' + n + ' candidates, ' + data.links + ' of them links, the least sure first. '
  : n + ' of ' + data.total.toLocaleString('en') + ' candidates, of which ' + data.links.toLocaleString('en') + ' are links: the ' + Math.floor(n / 2) +
  ' of which the decision is least sure, then an even sample of the other links, and of as many of the nearest other candidates. ';
$('about').textContent += 'Verdicts by the keys y, n and u. Labels that are saved serve alike learn as its truth, and alike label goes on with them.';
list();
