import { GreetingDetector } from '../../domain/answering/greeting-detector.ts'
import { TestClock } from '../clock.ts'

/**
 * Speaks `text` for `ms`, word by word like a recognizer, and is then silent for 3 s. Returns the first detection
 * result.
 */
export function verdict(text: string, ms: number, language = 'en'): string | undefined {
  const clock = new TestClock()
  const verdicts: string[] = []
  const detector = new GreetingDetector({ clock, language, decided: (result) => void verdicts.push(result) })
  detector.onset(clock.monotonicMs())
  const words = text.split(' ')
  for (let said = 1; said <= words.length; said++) {
    clock.pass(ms / words.length)
    detector.words(words.slice(0, said).join(' '), said === words.length)
  }
  detector.offset(clock.monotonicMs())
  for (let at = 0; at < 3000; at += 100) clock.pass(100)
  detector.close()
  return verdicts[0]
}
