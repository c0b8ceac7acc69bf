import type { LanguageWords } from './language-words.ts'

export const turkish: LanguageWords = {
  turns: {
    backchannels:
      'evet|tamam|tabii|tabi|anladım|anlıyorum|hı hı|hıhı|doğru|aynen|peki|güzel|olur|elbette|he|öyle|tamamdır',
    unfinished: 've|veya|ya da|ama|fakat|çünkü|ki|eğer|bir|benim|senin|sizin|için|ile|gibi|kadar|şey|yani|ııı|eee',
  },
  agent: {
    fallback: 'Üzgünüm, şu anda yanıt veremiyorum. Tekrar eder misiniz?',
    toolLeadIn: 'Bir saniye lütfen.',
  },
}
