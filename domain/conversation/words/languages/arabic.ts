import type { LanguageWords } from './language-words.ts'

export const arabic: LanguageWords = {
  turns: {
    backchannels: 'نعم|أجل|أيوه|ايوه|طيب|تمام|صحيح|حسنا|حسنًا|ماشي|مفهوم|فهمت|أكيد|بالتأكيد|ممتاز|آه|اه|إي',
    unfinished: 'و|أو|لكن|ولكن|لأن|أن|إن|إذا|عندما|الذي|التي|في|من|إلى|على|عن|مع|بين|أريد|يعني|ثم',
  },
  agent: {
    fallback: 'عذرًا، لا أستطيع الإجابة الآن. هل يمكنك إعادة ما قلته؟',
    toolLeadIn: 'لحظة من فضلك.',
  },
}
