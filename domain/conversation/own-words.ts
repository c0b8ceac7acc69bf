import { plain } from './phrases.ts'

/** Shorter texts are taken for the user's: an answer often repeats a word of the question. */
const wordsMin = 2

/** Whether a transcript is only a part of what the agent has said: its echo in the microphone. */
export function isEcho(text: string, agentsWords: string): boolean {
  const said = plain(text)
  return said.split(' ').length >= wordsMin && ` ${plain(agentsWords)} `.includes(` ${said} `)
}
