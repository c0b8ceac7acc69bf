import { plain } from './phrases.ts'

/** Returns true if a transcript is only a part of the agent's words, so it is the agent's echo in the microphone. */
export function isEcho(text: string, agentsWords: string): boolean {
  const said = plain(text)
  return said !== '' && ` ${plain(agentsWords)} `.includes(` ${said} `)
}
