package forklake;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.HadoopReadOptions;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.column.impl.ColumnReadStoreImpl;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.roaringbitmap.RoaringBitmap;

/**
 * Positional delete files as bitmaps, cached in each executor.
 *
 * A delete file never changes under its path, so the path, with the name of the data file that it
 * was checked to belong to, is the whole key of the cache. The least recently used bitmaps are
 * evicted when all together exceed a share of the heap.
 */
final class DeleteFiles {
    private static final String POSITION = "pos";
    private static final String FILE_PATH = "file_path";
    private static final long LIMIT = Runtime.getRuntime().maxMemory() / 16L;
    private static final long OVERHEAD = 512L; // of an entry: path, map node, bitmap object
    private static final LinkedHashMap CACHE = new LinkedHashMap(16, 0.75f, true);
    private static long cached = 0L;

    private DeleteFiles() {}

    /** Return the positions in a delete file, which must belong to the data file of this name. */
    static RoaringBitmap read(String path, String name, byte[] key, Configuration conf)
        throws IOException {
        String entry = path + "\n" + name;
        synchronized (CACHE) {
            RoaringBitmap known = (RoaringBitmap) CACHE.get(entry);
            if (known != null) {
                return known;
            }
        }
        RoaringBitmap bitmap;
        try {
            bitmap = load(new Path(path), name, key, conf);
        } catch (FileNotFoundException e) {
            throw new IOException("The delete file " + path + " does not exist", e);
        } catch (OtherFile e) {
            throw new IOException("The delete file " + path + " belongs to " + e.getMessage(), e);
        } catch (Exception e) {
            throw new IOException("The delete file " + path + " cannot be read: " + e, e);
        }
        bitmap.runOptimize();
        keep(entry, bitmap);
        return bitmap;
    }

    private static void keep(String entry, RoaringBitmap bitmap) {
        synchronized (CACHE) {
            if (CACHE.put(entry, bitmap) == null) {
                cached += weight(bitmap);
            }
            Iterator oldest = CACHE.entrySet().iterator();
            while (cached > LIMIT && oldest.hasNext()) {
                cached -= weight((RoaringBitmap) ((Map.Entry) oldest.next()).getValue());
                oldest.remove();
            }
        }
    }

    private static long weight(RoaringBitmap bitmap) {
        return bitmap.getLongSizeInBytes() + OVERHEAD;
    }

    private static RoaringBitmap load(Path path, String name, byte[] key, Configuration conf)
        throws IOException {
        HadoopReadOptions.Builder builder = HadoopReadOptions.builder(conf, path);
        if (key != null) {
            builder.withDecryption(Crypto.decryption(key));
        }
        ParquetReadOptions options = builder.build();
        ParquetFileReader reader =
            ParquetFileReader.open(HadoopInputFile.fromPath(path, conf), options);
        try {
            requireSameFile(reader, name);
            return positions(reader);
        } finally {
            reader.close();
        }
    }

    /**
     * Compare only file names, because a lake may have been moved. The footer has the minimum and
     * maximum of the path column, which are equal.
     */
    private static void requireSameFile(ParquetFileReader reader, String name)
        throws OtherFile {
        List groups = reader.getFooter().getBlocks();
        for (int i = 0; i < groups.size(); i++) {
            List columns = ((BlockMetaData) groups.get(i)).getColumns();
            for (int j = 0; j < columns.size(); j++) {
                ColumnChunkMetaData column = (ColumnChunkMetaData) columns.get(j);
                Statistics statistics = column.getStatistics();
                if (column.getPath().toDotString().equals(FILE_PATH)
                    && statistics != null
                    && statistics.hasNonNullValue()) {
                    requireName(name, new String(statistics.getMinBytes(), StandardCharsets.UTF_8));
                    requireName(name, new String(statistics.getMaxBytes(), StandardCharsets.UTF_8));
                }
            }
        }
    }

    private static void requireName(String name, String found) throws OtherFile {
        if (!found.substring(found.lastIndexOf('/') + 1).equals(name)) {
            throw new OtherFile(found + ", not to " + name);
        }
    }

    /** Thrown if a delete file belongs to another data file. */
    private static final class OtherFile extends IOException {
        OtherFile(String message) {
            super(message);
        }
    }

    private static RoaringBitmap positions(ParquetFileReader reader) throws IOException {
        MessageType whole = reader.getFileMetaData().getSchema();
        MessageType schema =
            new MessageType(whole.getName(), new Type[] {whole.getType(POSITION)});
        reader.setRequestedSchema(schema);
        ColumnDescriptor column = schema.getColumnDescription(new String[] {POSITION});
        RoaringBitmap bitmap = new RoaringBitmap();
        PageReadStore pages = reader.readNextRowGroup();
        while (pages != null) {
            ColumnReader values = new ColumnReadStoreImpl(
                pages,
                new GroupRecordConverter(schema).getRootConverter(),
                schema,
                reader.getFileMetaData().getCreatedBy()).getColumnReader(column);
            for (long i = values.getTotalValueCount(); i > 0L; i--) {
                if (values.getCurrentDefinitionLevel() == column.getMaxDefinitionLevel()) {
                    bitmap.add(position(values.getLong()));
                }
                values.consume();
            }
            pages = reader.readNextRowGroup();
        }
        return bitmap;
    }

    /** Check that a position fits into a bitmap of unsigned 32-bit integers. */
    static int position(long position) {
        if (position < 0L || position > 0xFFFFFFFFL) {
            throw new IllegalArgumentException("no row can have the position " + position);
        }
        return (int) position;
    }
}
