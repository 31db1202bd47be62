// The search: a section is found if it has all words; words in its title count more. It loads the index when somebody begins to type.
const box = document.querySelector('input[type=search]');
const found = document.querySelector('#found');
const root = document.body.dataset.root;
let sections;

function score(section, words) {
  const title = section.title.toLowerCase(), text = section.text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    if (title.includes(word)) sum += 10;
    else if (!text.includes(word)) return 0;
    sum += 1;
  }
  return sum - title.length / 1000;
}

function result(section, word) {
  const item = document.createElement('li'), link = document.createElement('a'), text = document.createElement('small');
  const at = Math.max(0, section.text.toLowerCase().indexOf(word) - 40);
  link.href = root + section.address;
  link.textContent = section.title;
  text.textContent = section.text.slice(at, at + 120);
  item.append(link, text);
  return item;
}

async function search() {
  sections ??= fetch(root + 'search.json').then((answer) => answer.json());
  const all = await sections;
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = words.length ? all.map((s) => [score(s, words), s]).filter(([n]) => n > 0).sort(([a], [b]) => b - a).slice(0, 12) : [];
  found.replaceChildren(...hits.map(([, s]) => result(s, words[0])));
  if (words.length && !hits.length) found.textContent = 'Nothing has all these words.';
  found.hidden = !words.length;
}

box.hidden = false;
box.addEventListener('input', search);
document.addEventListener('keydown', (e) => {
  if (e.key === 'Escape') { box.value = ''; found.hidden = true; }
});
