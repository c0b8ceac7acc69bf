/** Finds the languages for a conversation. */

/** These languages are offered if both stages support every language, because such models list no languages. */
const frequent = ['en', 'de', 'es', 'fr', 'it', 'nl', 'pl', 'pt', 'ja', 'ko', 'zh']

/**
 * Returns the languages that the server can both recognize and speak now, English first. `models` is the list from
 * /v1/models.
 */
export function conversationLanguages(models) {
  const [stt, tts] = ['stt', 'tts'].map((stage) => languagesOf(models, stage))
  if (stt.has('*') && tts.has('*')) return [...new Set([...frequent, ...stt, ...tts])].filter(isNamed)
  const both = [...stt, ...tts].filter((tag) => knows(stt, tag) && knows(tts, tag) && isNamed(tag))
  return both.length === 0 ? ['en'] : [...new Set(both)].sort(englishFirst)
}

/** Returns the voices that can be used now for this language. */
export function voicesOf(models, tag) {
  const able = models.filter((model) => model.stage === 'tts' && model.routable && model.streaming)
  return able.flatMap(({ voices = [] }) => voices.filter((voice) => speaks(voice, tag)))
}

/** Returns true for every voice if `tag` is empty. A voice without a language speaks every language. */
export function speaks({ language }, tag) {
  return tag === '' || language === undefined || baseOf(language) === baseOf(tag)
}

function languagesOf(models, stage) {
  const able = models.filter((model) => model.stage === stage && model.routable && model.streaming)
  return new Set(able.flatMap(({ languages }) => languages.map(baseOf)))
}

/** A model with a language serves its regions too: a voice for `pt` fits a recognizer for `pt-BR`. */
const baseOf = (tag) => tag.split('-')[0]
const knows = (languages, tag) => languages.has(tag) || languages.has('*')
const isNamed = (tag) => tag !== '*'
const englishFirst = (one, other) => Number(other === 'en') - Number(one === 'en') || (one < other ? -1 : 1)
