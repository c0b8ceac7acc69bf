/** Returns the body and the headers of the request that the page's choices for speech describe. */
export function speechRequest({ model, voice, language, text }) {
  const { prefix } = document.documentElement.dataset
  const header = `X-${prefix[0].toUpperCase()}${prefix.slice(1)}-Language`
  return {
    body: { model: model || 'auto', input: text, ...(voice && { voice }), response_format: 'wav' },
    headers: language ? { [header]: language } : {},
  }
}
