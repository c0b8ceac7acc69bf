import { plain } from './phrases.ts'

/** True if a transcript is only a part of the agent's words: its echo in the microphone. */
export function isEcho(text: string, agentsWords: string): boolean {
  const said = plain(text)
  return said !== '' && ` ${plain(agentsWords)} `.includes(` ${said} `)
}
