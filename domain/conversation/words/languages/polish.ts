import type { LanguageWords } from './language-words.ts'

export const polish: LanguageWords = {
  turns: {
    backchannels:
      'tak|no|no tak|aha|mhm|dobrze|dobra|jasne|rozumiem|oczywiście|zgadza się|dokładnie|racja|pewnie|okej|super|świetnie|właśnie|yhy',
    unfinished:
      'i|a|ale|albo|lub|oraz|bo|ponieważ|że|żeby|jeśli|jeżeli|gdy|kiedy|chociaż|który|która|które|w|we|na|z|ze|do|od|o|przy|pod|nad|dla|bez|przez|mój|moja|moje|yyy|eee|więc|chcę|chciałbym|chciałabym|czy',
  },
  agent: {
    fallback: 'Przepraszam, nie mogę teraz odpowiedzieć. Czy można powtórzyć?',
    toolLeadIn: 'Chwileczkę, proszę.',
  },
  decisions: {
    yes: 'tak|no tak|jasne|oczywiście|pewnie|dobrze|zgoda|proszę połączyć|proszę łączyć|przyjmuję|czemu nie|dlaczego nie|nie ma problemu|nie ma sprawy|żaden problem',
    no: 'nie|odmawiam|zajęty|zajęta|nigdy|w żadnym razie',
    undecided:
      'nie wiem|nie rozumiem|nie zrozumiałem|nie zrozumiałam|nie słyszę|nie słychać|nie jestem pewien|nie jestem pewna|tak słucham|tak halo|tak kto',
    postponed: 'nie teraz|teraz nie|później|potem|innym razem|jutro|nie dzisiaj|nie dziś',
  },
}
