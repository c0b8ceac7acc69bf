/** The embedded voice speaks signs without an ASCII form, and no meaningful sign is lost. */
import t from 'tap'
import { sentences } from '../../domain/speech/reading/sentences.ts'

const rows: [text: string, said: string][] = [
  ['Take ½ tablet', 'Take one half tablet'],
  ['Take 2½ tablets or 1 ¼', 'Take 2 and a half tablets or 1 and a quarter'],
  ['⅔ cup, 1⁄2 spoon', 'two thirds cup, 1/2 spoon'],
  ['5 €', '5 euros'],
  ['It costs 5€.', 'It costs 5 euros.'],
  ['€1, 1 €, €1.50 and 11 €', '1 euro, 1 euro, 1.50 euros and 11 euros'],
  ['£5 and €3.50', '5 pounds and 3.50 euros'],
  ['¥500, 20 ₹ and 5 ¢', '500 yen, 20 rupees and 5 cents'],
  ['It is −5 °C, not 20°F', 'It is minus 5 degrees Celsius, not 20 degrees Fahrenheit'],
  ['Turn 90°', 'Turn 90 degrees'],
  ['From 9–5 on 3 — 4', 'From 9 to 5 on 3 to 4'],
  ['Yes – really', 'Yes, really'],
  ['€10k, £2.5bn and €5 million', '10 thousand euros, 2.5 billion pounds and 5 million euros'],
  ['€1 million, 1M €, ¥20bn', '1 million euros, 1 million euros, 20 billion yen'],
  ['About 10 k€', 'About 10 thousand euros'],
  ['€1.5 billion, £3tn, ₹2 lakh', '1.5 billion euros, 3 trillion pounds, 2 lakh rupees'],
  ['€5 more, €5 m, £10 bonus', '5 euros more, 5 euros m, 10 pounds bonus'],
  ['€5–10 or £2–3k', '5 to 10 euros or 2 to 3 thousand pounds'],
  ['€100 – €200, 5 €–10 €', '100 euros to 200 euros, 5 euros to 10 euros'],
  ['Call 555–1234 or 555 – 1200', 'Call 555-1234 or 555-1200'],
  ['1–800–555–1234, (212) 555–1234, 212 555–123', '1-800-555-1234, (212) 555-1234, 212 555-123'],
  ['+49 30–1234567 and 030–123', '+49 30-1234567 and 030-123'],
  ['On 2024–05–12', 'On 2024-05-12'],
  ['500–1000 of 1,000–2,500', '500 to 1000 of 1,000 to 2,500'],
  ['1990–95, 10.5–12.5, 09–17', '1990 to 95, 10.5 to 12.5, 09 to 17'],
  ['10:30–11:45', '10:30 to 11:45'],
  ['3 × 4 ÷ 2 ± 1', '3 times 4 divided by 2 plus or minus 1'],
  ['a ≤ 5, b ≥ 6, c ≠ 7, d ≈ 8', 'a at most 5, b at least 6, c not equal to 7, d about 8'],
  ['20 m² and 5³', '20 m squared and 5 cubed'],
  ['Take 50 µg', 'Take 50 micrograms'],
  ['§ 5, № 7, 3 ‰', 'section 5, number 7, 3 per mille'],
  ['Café naïve', 'Cafe naive'],
  ['½–¾ cup, 1½–2 cups', 'one half to three quarters cup, 1 and a half to 2 cups'],
  ['A ⅓-inch cut, ⅒ of it', 'A one third-inch cut, one tenth of it'],
  ['€1½, £3½ and 2 ½ €', '1 euro and a half, 3 pounds and a half and 2 and a half euros'],
  ['5€50, 5 € 20 £', '5 euros 50, 5 euros 20 pounds'],
  ['฿100, ₱1, 1,000円 100元', '100 baht, 1 peso, 1,000 yen 100 yuan'],
  [
    '10⁻³, 10⁶, x⁴ and (a+b)²',
    '10 to the power of minus 3, 10 to the power of 6, x to the power of 4 and (a+b) squared',
  ],
  ['Ca²⁺ and a note¹', 'Ca2 plus and a note1'],
  ['6′2″, 5\'11" and a 5½″ pipe', '6 feet 2 inches, 5 feet 11 inches and a 5 and a half inches pipe'],
  ['40° 26′ 46″ N, 1′30″', '40 degrees 26 minutes 46 seconds N, 1 minutes 30 seconds'],
  ['2 · 3, 4⋅5, 3 ∶ 1', '2 times 3, 4 times 5, 3 to 1'],
  ['ΔT of 5 Å at α', 'delta T of 5 angstroms at alpha'],
  ['√16, ∛27, 5 Ω', 'square root of 16, cube root of 27, 5 ohms'],
  ['Milk ✅ and bread ❌', 'Milk yes and bread no'],
]

t.test('signs that change the meaning of a text, such as € and −, are spoken as words', (t) => {
  for (const [text, said] of rows) {
    const [first] = sentences(text, { language: 'en', charsMax: 300 })
    t.equal(first?.text, said, text)
    const end = first?.sourcePlace(said.length) ?? 0
    t.ok(end >= text.length - 1, 'the text is said up to its last sign')
  }
  t.end()
})

t.test('hostile texts full of symbols and numbers are normalized within the time limit', (t) => {
  for (const unit of [
    '1′',
    '½–',
    '1⁻',
    '5€',
    'α',
    '1',
    '1.',
    '1,000',
    '1-',
    '1–',
    '555–',
    '1 (',
    '1k',
    '€1',
    '– ',
    ' ',
    '1 ',
    '1\u00a0',
  ]) {
    const text = `a${unit.repeat(20_000 / unit.length)}b`
    const begun = process.cpuUsage()
    sentences(text, { language: 'en', charsMax: 300 })
    t.ok(process.cpuUsage(begun).user < 500_000, `${JSON.stringify(unit)}: ${process.cpuUsage(begun).user} µs`)
  }
  t.end()
})
