! Each rank writes its columns of one matrix with HDF5's collective write and reads its neighbour's back.
program suites_hdf5
  use hdf5
  use mpi
  implicit none
  integer, parameter :: rows = 8, columns = 3
  integer :: rank, ranks, err, i, j, wrong
  integer(hid_t) :: access, file, space, part, memory, set, transfer
  integer(hsize_t) :: whole(2), mine(2), at(2)
  integer, target :: values(rows, columns)
  call mpi_init(err)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, err)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, err)
  mine = [integer(hsize_t) :: rows, columns]
  whole = [integer(hsize_t) :: rows, columns * ranks]
  call h5open_f(err)
  call h5pcreate_f(H5P_FILE_ACCESS_F, access, err)
  call h5pset_fapl_mpio_f(access, MPI_COMM_WORLD, MPI_INFO_NULL, err)
  call h5fcreate_f('matrix.h5', H5F_ACC_TRUNC_F, file, err, access_prp=access)
  call h5screate_simple_f(2, whole, space, err)
  call h5pcreate_f(H5P_DATASET_CREATE_F, transfer, err)
  call h5pset_obj_track_times_f(transfer, .false., err)
  call h5dcreate_f(file, 'matrix', H5T_NATIVE_INTEGER, space, set, err, dcpl_id=transfer)
  call h5pclose_f(transfer, err)
  call h5screate_simple_f(2, mine, memory, err)
  call h5pcreate_f(H5P_DATASET_XFER_F, transfer, err)
  call h5pset_dxpl_mpio_f(transfer, H5FD_MPIO_COLLECTIVE_F, err)
  do j = 1, columns
    do i = 1, rows
      values(i, j) = element(rank, i, j)
    end do
  end do
  at = [integer(hsize_t) :: 0, columns * rank]
  call h5dget_space_f(set, part, err)
  call h5sselect_hyperslab_f(part, H5S_SELECT_SET_F, at, mine, err)
  call h5dwrite_f(set, H5T_NATIVE_INTEGER, values, mine, err, memory, part, transfer)
  at(2) = columns * mod(rank + 1, ranks)
  call h5sselect_hyperslab_f(part, H5S_SELECT_SET_F, at, mine, err)
  call mpi_barrier(MPI_COMM_WORLD, err)
  call h5dread_f(set, H5T_NATIVE_INTEGER, values, mine, err, memory, part, transfer)
  wrong = 0
  do j = 1, columns
    do i = 1, rows
      if (values(i, j) /= element(mod(rank + 1, ranks), i, j)) wrong = wrong + 1
    end do
  end do
  call mpi_allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, err)
  if (rank == 0) print '(a, i0)', 'wrong elements: ', wrong
  call h5sclose_f(part, err)
  call h5sclose_f(memory, err)
  call h5sclose_f(space, err)
  call h5pclose_f(transfer, err)
  call h5pclose_f(access, err)
  call h5dclose_f(set, err)
  call h5fclose_f(file, err)
  call h5close_f(err)
  call mpi_finalize(err)
contains
  pure integer function element(of, i, j)
    integer, intent(in) :: of, i, j
    element = 10000 * of + 100 * i + j
  end function
end program
