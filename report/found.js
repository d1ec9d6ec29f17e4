'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const words = { y: 'yes', n: 'no', u: 'unsure' }, labels = { y: '1', n: '0', u: 'u' };
const around = 8; // pairs that are shown on either side of the threshold
const number = n => n.toLocaleString('en');

// A browser may refuse to keep anything: then verdicts last as long as the page.
let hash = 0;
for (const r of data.rows) for (const c of r.a + '\0' + r.b) hash = (Math.imul(hash, 31) + c.codePointAt(0)) | 0;
const store = 'alike found ' + hash;
let verdicts = {};
try { verdicts = JSON.parse(localStorage.getItem(store)) || {}; } catch { }

// Names become text nodes only, never markup.
function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

function named(name, text) {
  return el('td', {}, el('bdi', {}, name), ...(text ? [el('div', { dir: 'auto' }, text)] : []));
}

function row(i, last) {
  const r = data.rows[i], keys = el('td', {});
  if (r.row) for (const k of 'ynu') {
    const b = el('button', { type: 'button', 'aria-pressed': String(verdicts[i] === k) }, words[k]);
    b.onclick = () => {
      if (verdicts[i] === k) delete verdicts[i]; else verdicts[i] = k;
      try { localStorage.setItem(store, JSON.stringify(verdicts)); } catch { }
      for (const other of keys.querySelectorAll('button')) other.setAttribute('aria-pressed', String(other === b && verdicts[i] === k));
      judged();
    };
    keys.append(b, ' ');
  }
  return el('tr', last ? { class: 'cut' } : {}, el('td', {}, r.v.toFixed(6)), named(r.a, r.ta), named(r.b, r.tb), keys);
}

function judged() {
  const n = Object.keys(verdicts).length;
  $('judged').textContent = n ? n + (n === 1 ? ' verdict' : ' verdicts') : '';
  $('save').disabled = n === 0;
}

function says() {
  const at = Number($('least').value), from = (data.first + at) * data.step;
  const count = of => number(data[of][at]);
  $('says').textContent = from.toFixed(data.decimals) + ': ' + count('pairs') + ' pairs, ' + count('documents') + ' ' + data.of + ' in ' + count('clusters') +
    ' clusters, the largest of ' + count('largest') + (data.two ? '' : '; one of each cluster kept, ' + number(data.documents[at] - data.clusters[at]) + ' would go');
  const above = data.rows.filter(r => r.v >= from - 1e-9).length; // rows are sorted, the most alike first
  const rows = [];
  for (let i = Math.max(0, above - around); i < Math.min(data.rows.length, above + around); i++) rows.push(row(i, i === above - 1));
  $('rows').replaceChildren(...rows);
}

if ($('least')) {
  $('least').oninput = says;
  $('save').onclick = () => {
    const rows = data.rows.map((r, i) => verdicts[i] ? r.row + labels[verdicts[i]] + '\n' : '');
    const a = el('a', { href: URL.createObjectURL(new Blob([data.header, ...rows], { type: 'text/csv' })), download: 'labels.csv' });
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  };
  says();
  judged();
}
