// Searches the documentation's pages by title, address and code. Without scripts there is no search, so the script
// makes the field. The index is loaded when the field is used for the first time.
const place = document.getElementById('search')
const root = place.dataset.root
const shownMax = 20
let pages = null

const field = make('input', { type: 'search', id: 'search-field', placeholder: 'Search', autocomplete: 'off' })
const label = make('label', { htmlFor: field.id, className: 'unseen', textContent: 'Search the documentation' })
const found = make('p', { className: 'unseen' })
found.setAttribute('role', 'status')
const results = make('ul', { hidden: true })
place.setAttribute('role', 'search')
place.append(label, field, found, results)

field.addEventListener('focus', load, { once: true })
field.addEventListener('input', show)
place.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    field.value = ''
    show()
    field.focus()
  }
})

async function load() {
  try {
    const response = await fetch(`${root}search.json`)
    if (!response.ok) throw new Error(`the server answered ${response.status}`)
    pages = (await response.json()).map(([path, title, kind, parent, words]) => ({
      path,
      title,
      about: [kind, parent].filter(Boolean).join(', '),
      text: `${title} ${words} ${path}`.toLowerCase(),
    }))
    show()
  } catch {
    field.disabled = true
    field.placeholder = 'The search does not work here'
  }
}

function show() {
  const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean)
  const isAsked = wanted.length > 0 && pages !== null
  const hits = isAsked ? pages.filter(({ text }) => wanted.every((word) => text.includes(word))) : []
  hits.sort((a, b) => rank(a, wanted) - rank(b, wanted))
  results.hidden = !isAsked
  found.textContent = isAsked ? `${hits.length} pages` : ''
  results.replaceChildren(...(hits.length > 0 || !isAsked ? hits.slice(0, shownMax).map(row) : [none()]))
}

/** Pages whose title begins with the first word come first, and schemas last. */
function rank({ title, about }, [first = '']) {
  const name = title.toLowerCase()
  const inTitle = name.startsWith(first) ? 0 : name.includes(first) ? 1 : 2
  return inTitle + (about.startsWith('schema') ? 3 : 0)
}

function row({ path, title, about }) {
  const item = make('li')
  item.append(make('a', { href: `${root}${path}.html`, textContent: title }), ` ${about}`)
  return item
}

function none() {
  return make('li', { textContent: 'No page has these words.' })
}

function make(name, properties = {}) {
  return Object.assign(document.createElement(name), properties)
}
