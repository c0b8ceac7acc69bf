/** Fills the page's selection lists with the models, voices and languages currently available on the server. */
import { speaks } from './languages.js'
import { element } from './server.js'

let rows = []

/** Fills the lists. `data` is the list from /v1/models. Later calls keep the user's choices. */
export function fillLists(data) {
  rows = data.filter(({ routable, streaming }) => routable && streaming)
  for (const stage of ['stt', 'tts']) {
    const model = element(`${stage}-model`)
    fill(model, [option('', 'auto'), ...rows.filter((row) => row.stage === stage).map(({ id }) => option(id, id))])
    model.onchange = () => fillOf(stage)
    fillOf(stage)
  }
}

/** Fills the lists of languages and voices for the chosen model, or for all models. */
function fillOf(stage) {
  const chosen = element(`${stage}-model`).value
  const able = rows.filter((row) => row.stage === stage && (chosen === '' || row.id === chosen))
  const known = [...new Set(able.flatMap(({ languages }) => languages))].filter((tag) => tag !== '*').sort()
  // If a model supports every language, its language list is empty, so English is offered.
  const tags = known.length > 0 ? known : ['en']
  const language = element(`${stage}-language`)
  const isNew = language.options.length === 0
  fill(language, [option('', stage === 'stt' ? 'detect' : 'any'), ...tags.map((tag) => option(tag, nameOf(tag)))])
  if (isNew) language.value = tags.includes('en') ? 'en' : ''
  if (stage !== 'tts') return
  language.onchange = () => fillVoices(able, language.value)
  fillVoices(able, language.value)
}

/** Offers the voices for the chosen language. */
function fillVoices(rows, tag) {
  const spoken = (voices) => voices.filter((voice) => speaks(voice, tag))
  const groups = rows.flatMap(({ id, voices = [] }) => groupOf(id, spoken(voices)))
  fill(element('tts-voice'), [option('', 'default'), ...groups])
}

function groupOf(id, voices) {
  if (voices.length === 0) return []
  const group = document.createElement('optgroup')
  group.label = id
  group.append(...voices.map((voice) => option(voice.id, [voice.name, voice.gender].filter(Boolean).join(', '))))
  return [group]
}

function fill(select, options) {
  const { value } = select
  select.replaceChildren(...options)
  select.value = value
  if (select.selectedIndex < 0) select.selectedIndex = 0
}

function option(value, text) {
  return new Option(text, value)
}

const names = new Intl.DisplayNames(['en'], { type: 'language' })

function nameOf(tag) {
  try {
    return `${names.of(tag)} (${tag})`
  } catch {
    return tag
  }
}
