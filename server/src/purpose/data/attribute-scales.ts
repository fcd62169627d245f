/**
 * Properties of which a purchase has exactly one value. A constraint that allows one value "only" is broken by a
 * description that names another. Values are separated by `;`, spellings of one value by `|`.
 */
export const ATTRIBUTE_SCALES: readonly { id: string; label: string; values: string }[] = [
  {
    id: 'travel_class',
    label: 'class of travel',
    values:
      'economy|economy class|eco|second class|2nd class|standard class|coach class|2. klasse|zweite klasse|2. kl|tourist class; premium economy; business class|business fare|business saver|business cabin; first class|1st class|1. klasse|erste klasse',
  },
  {
    id: 'condition',
    label: 'condition',
    values:
      'brand new|new only|new|unused|factory new; used|second hand|secondhand|pre-owned|preowned|worn|gebraucht|occasion; refurbished|renewed|generalüberholt|reconditioned',
  },
  {
    id: 'term',
    label: 'length of contract',
    values:
      'monthly|month to month|per month|pay as you go; annual|yearly|per year|12 months|12 month|annually|three years|3 years|multi-year|two years|2 years|lifetime',
  },
  {
    id: 'room',
    label: 'kind of room',
    values:
      'single room|standard room|standard double; suite|junior suite|penthouse|presidential suite|executive suite',
  },
  {
    id: 'origin',
    label: 'way of growing',
    values: 'organic|bio; conventional|non-organic',
  },
  {
    id: 'drive',
    label: 'drive',
    values: 'electric|electric car|battery electric|ev; diesel; petrol|gasoline; hybrid',
  },
  {
    id: 'colour',
    label: 'colour',
    values:
      'red|rot|rouge|rojo; blue|navy|blau|bleu|azul; green|grun|vert|verde; black|schwarz|noir|negro; white|weiss|blanc|blanco; yellow|gelb|jaune; purple|violet|lila; pink|rosa; grey|gray|grau|gris; brown|braun|marron; orange; beige',
  },
  {
    id: 'delivery_speed',
    label: 'speed of delivery',
    values:
      'standard delivery|standard shipping|ground|regular mail|economy shipping; express|overnight|next-day|next day|same-day|same day|courier express|priority express',
  },
];
