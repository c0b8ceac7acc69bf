/** Copies texts to the clipboard: the transcript, and the page's requests as programs. */
import { curl } from './curl.js'
import { node } from './node.js'
import { python } from './python.js'
import { element, say } from './server.js'

const programs = { curl, python, node }

/** Lets the buttons of a stage copy its request. `choice` returns what the page has chosen. */
export function offerPrograms(stage, choice) {
  for (const [name, program] of Object.entries(programs))
    element(`${stage}-${name}`).addEventListener('click', async () => {
      const text = program[stage](choice())
      const shown = element(`${stage}-code`)
      shown.textContent = text
      shown.hidden = false
      const isCopied = await copy(text)
      say(`${stage}-status`, isCopied ? 'Copied. PARLEY_API_KEY is your key.' : 'Select the program to copy it.')
    })
}

/** Copies the text to the clipboard. Returns false if this failed: browsers forbid it for pages without HTTPS. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
