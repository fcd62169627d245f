import { readTerms } from '@purser/purpose-data';
import { describe, expect, it } from 'vitest';
import { makeBuiltInAssessor } from '../built-in-assessor.ts';
import { TRADES } from '../data/trades.ts';

/** A merchant that the operator knows for each trade. */
const merchantOf = (trade: string) => `Kontor ${trade.replaceAll('_', ' ')}`;
const assess = makeBuiltInAssessor(TRADES.map(({ id }) => ({ name: merchantOf(id), trade_ids: [id] })));

/** True if an objective vouches for a merchant of the trade. */
function vouches(objective: string, trade: string): boolean {
  const judgement = assess(
    { purpose: { objective }, currency: 'EUR' },
    { action: { type: 'purchase', merchant: merchantOf(trade), amount_minor: 4_200, currency: 'EUR' } },
  );
  return judgement.vouched_by?.by === 'TRADE';
}

const TRAPS: [language: string, trade: string, objective: string][] = [
  ['English', 'office_supplies', 'Buy research papers for the chemists.'],
  ['English', 'conferences', 'Buy research papers for the chemists.'],
  ['English', 'office_supplies', 'Pay for white papers on security.'],
  ['English', 'av_production', 'Keep our production platform running.'],
  ['English', 'clothing', 'Report on the running shoes budget.'],
  ['English', 'holidays', 'Pay what is due before the bank holiday.'],
  ['English', 'courses', 'Pay for books-related advice.'],
  ['English', 'alcohol', 'Print labels for a wine exhibition.'],
  ['English', 'alcohol', 'Pay the authors of a history of the wine.'],
  ['English', 'clothing', 'Buy shoe-shine machines and a shoes-only cupboard.'],
  ['English', 'lodging', 'Advertise with hotel guests.'],
  ['English', 'rent', 'Rent a van for the move.'],
  ['German', 'alcohol', 'Wein-Etiketten für das Fest drucken.'],
  ['German', 'alcohol', 'Bier- und Saftgläser für die Küche.'],
  ['German', 'alcohol', 'Literatur zur Geschichte des Bieres und zur Geschichte von Wein.'],
  ['German', 'office_furniture', 'Die Versicherung der Möbel bezahlen.'],
  ['Spanish', 'alcohol', 'Imprimir la carta de vino para la cena.'],
  ['Spanish', 'office_furniture', 'Pagar el barniz de los muebles.'],
  ['Spanish', 'clothing', 'Pagar la lavandería de la ropa.'],
  ['French', 'alcohol', "Des ouvrages sur l'histoire du vin."],
  ['French', 'clothing', 'Payer le nettoyage des vêtements.'],
  ['French', 'advertising', 'Payer la taxe de publicité.'],
  ['Italian', 'alcohol', 'Pagare la degustazione della birra.'],
  ['Italian', 'alcohol', 'Stampare la carta del vino.'],
  ['Dutch', 'alcohol', 'De geschiedenis van sterke drank, voor het museum.'],
  ['Dutch', 'lodging', 'De folders van het hotel drukken.'],
  ['Japanese', 'alcohol', 'ワイン市場の調査を依頼する。'],
  ['Japanese', 'alcohol', 'ビールの歴史の資料を集める。'],
  ['Japanese', 'office_furniture', '家具の修理を頼む。'],
];

const RIGHT: [language: string, trade: string, objective: string][] = [
  ['English', 'office_supplies', 'Buy paper for the printers.'],
  ['English', 'office_supplies', 'Order printer paper, and stationery.'],
  ['English', 'clothing', 'Order running shoes for the team.'],
  ['English', 'clothing', 'Order comfortable leather shoes.'],
  ['English', 'alcohol', 'Keep the bar in wine and beer.'],
  ['English', 'alcohol', 'Restock twelve bottles of wine a week.'],
  ['English', 'alcohol', 'Handle the wine order of the bar.'],
  ['English', 'lodging', 'Book hotels booked by colleagues; hotels only near the station.'],
  ['English', 'holidays', 'Pay for a family holiday.'],
  ['English', 'home_goods', 'Replace the light bulbs of the hall.'],
  ['German', 'alcohol', 'Wein und Bier für das Fest bestellen.'],
  ['German', 'alcohol', 'Einkauf von Wein für die Gäste.'],
  ['German', 'office_furniture', 'Neue Möbel für das Büro besorgen.'],
  ['Spanish', 'alcohol', 'Comprar vino tinto para el restaurante.'],
  ['Spanish', 'office_furniture', 'Compra de muebles para la oficina.'],
  ['Spanish', 'clothing', 'Suministro de ropa para el equipo.'],
  ['French', 'alcohol', 'Acheter du vin rouge pour le bar.'],
  ['French', 'office_furniture', 'Commander des meubles pour le bureau.'],
  ['French', 'clothing', 'Achat de vêtements professionnels.'],
  ['Italian', 'alcohol', 'Acquisto della birra per il bar.'],
  ['Italian', 'alcohol', 'Comprare vino rosso per gli ospiti.'],
  ['Dutch', 'alcohol', 'Sterke drank voor het café kopen.'],
  ['Dutch', 'lodging', 'Een goed hotel voor het team boeken.'],
  ['Japanese', 'alcohol', 'ビールとワインを購入する。'],
  ['Japanese', 'alcohol', '会社のワインを注文する。'],
  ['Japanese', 'office_furniture', '家具の購入。'],
];

/** English plurals of one meaning. */
const WORDS = [...readTerms('trade-words')].flatMap(([trade, words]) =>
  words.flatMap((word) =>
    /^[a-z]{4,}s$/.test(word) && !/(?:ss|us|is)$/.test(word) ? [{ trade, word }] : [],
  ),
);

describe("an objective's noun phrases", () => {
  it.each(TRAPS)('%s: no merchant of %s is vouched for by "%s"', (_, trade, objective) => {
    expect(vouches(objective, trade)).toBe(false);
  });

  it.each(RIGHT)('%s: a merchant of %s is vouched for by "%s"', (_, trade, objective) => {
    expect(vouches(objective, trade)).toBe(true);
  });

  it('hold for plural goods of every trade: alone they vouch, as a part of something else they do not', () => {
    expect(WORDS.length).toBeGreaterThan(200);
    const asked = (frame: string) =>
      WORDS.filter(({ trade, word }) => vouches(frame.replace('…', word), trade)).map(({ word }) => word);
    expect(asked('Buy … for the team.')).toHaveLength(WORDS.length);
    for (const frame of ['Report on the … budget.', 'Print a history of ….', 'Answer …-related mail.'])
      expect(asked(frame)).toEqual([]);
  });
});
